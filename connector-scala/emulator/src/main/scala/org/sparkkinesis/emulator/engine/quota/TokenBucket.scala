package org.sparkkinesis.emulator.engine.quota

/** Tokens that come back at a steady rate up to a capacity. Not thread-safe: its owner guards it; time in milliseconds. */
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

  /** Takes even what is not there: the bucket goes negative, and is empty until that has come back. */
  def overdraw(n: Double, now: Long): Unit = {
    refill(now)
    tokens -= n
  }

  /** How long until at least `n` tokens are there. */
  def millisUntil(n: Double, now: Long): Long = {
    refill(now)
    if (tokens >= n) 0 else math.ceil((n - tokens) * 1000 / perSecond).toLong
  }
}
