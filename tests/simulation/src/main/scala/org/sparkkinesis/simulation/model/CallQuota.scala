package org.sparkkinesis.simulation.model

/**
 * A token bucket on the service's clock.
 *
 * @param perSecond
 *   what comes back each second
 * @param capacity
 *   what may be taken at once
 */
final class CallQuota(perSecond: Double, capacity: Double, now: () => Long) {
  private var level = capacity
  private var asOf = now()

  /** Takes `amount` when anything is left, so that one large call may overdraw it; false when nothing is. */
  def take(amount: Double, least: Double): Boolean = {
    refill()
    val allowed = level >= least
    if (allowed) level -= amount
    allowed
  }

  /** Takes more, after a call was allowed. */
  def overdraw(amount: Double): Unit = level -= amount

  private def refill(): Unit = {
    val time = now()
    level = math.min(capacity, level + (time - asOf) * perSecond / 1000)
    asOf = time
  }
}
