package org.sparkkinesis.simulation.model

/**
 * A token bucket on the service's clock.
 *
 * @param perSecond
 *   tokens that are added per second
 * @param capacity
 *   maximum number of tokens
 */
final class CallQuota(perSecond: Double, capacity: Double, now: () => Long) {
  private var level = capacity
  private var asOf = now()

  /**
   * Takes `amount` if at least `least` tokens are left, so that one large call may overdraw the bucket. Returns false
   * otherwise.
   */
  def take(amount: Double, least: Double): Boolean = {
    refill()
    val allowed = level >= least
    if (allowed) level -= amount
    allowed
  }

  /** Takes tokens for an allowed call, even if there are not enough. */
  def overdraw(amount: Double): Unit = level -= amount

  private def refill(): Unit = {
    val time = now()
    level = math.min(capacity, level + (time - asOf) * perSecond / 1000)
    asOf = time
  }
}
