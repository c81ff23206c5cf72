package org.sparkkinesis.emulator.engine.quota

/** A token bucket that refills at a steady rate up to its capacity. Times are in milliseconds. Not thread-safe. */
final class TokenBucket(capacity: Double, perSecond: Double, startMillis: Long) {
  private var tokens = capacity
  private var last = startMillis

  private def refill(now: Long): Unit = if (now > last) {
    tokens = math.min(capacity, tokens + (now - last) * perSecond / 1000)
    last = now
  }

  def has(n: Double, now: Long): Boolean = {
    refill(now)
    tokens >= n
  }

  def tryTake(n: Double, now: Long): Boolean = {
    val enough = has(n, now)
    if (enough) tokens -= n
    enough
  }

  /**
   * Takes tokens even if there are not enough. The balance becomes negative, and no tokens are available until it is
   * positive.
   */
  def overdraw(n: Double, now: Long): Unit = {
    refill(now)
    tokens -= n
  }

  /** Returns the time until at least `n` tokens are available. */
  def millisUntil(n: Double, now: Long): Long = {
    refill(now)
    if (tokens >= n) 0 else math.ceil((n - tokens) * 1000 / perSecond).toLong
  }
}
