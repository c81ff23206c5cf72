package org.sparkkinesis.spark.connection

import org.sparkkinesis.concurrent.Clock

/**
 * Estimates the service's clock as a range between two bounds: an answer contains whole seconds and arrives with a
 * delay. Without an answer, the clock is this process's own, which may be wrong or be changed. Between two answers, the
 * clock advances with this process's running time. The running time stands still while the machine is suspended; only
 * then, this process's clock is used again. All times are epoch milliseconds. Thread-safe.
 */
final class ServiceClock(own: Clock) {
  import ServiceClock._

  /** The difference between the service's clock and this process's running time. */
  private var ahead: Option[Bounds] = None

  /** The difference between the service's clock and this process's clock. */
  private var aheadOfOwn = Bounds(0, 0)

  /** When the last answer arrived. */
  private var last: Option[Moment] = None

  /** Returns the present time by the two clocks of this process. */
  def now: Moment = Moment(millis(own.nanoTime), own.currentMillis)

  /** Whether this process's clock shows that the machine was suspended, or was set forward, since an earlier time. */
  def wasSuspendedSince(earlier: Moment): Boolean = earlier.suspendedUntil(now) > Doubt

  /**
   * Records an answer that has just arrived.
   *
   * @param answeredMillis
   *   the time in the answer
   * @param from
   *   the time of the request
   */
  def heard(answeredMillis: Long, from: Moment): Unit = synchronized {
    val now = this.now
    val answered = Bounds(answeredMillis, answeredMillis + Resolution + from.millisUntil(now))
    // Rounding the running time to milliseconds makes it up to one millisecond too early.
    val byRunning = answered.copy(least = answered.least - 1).minus(now.runningMillis)
    val byOwn = answered.minus(now.ownMillis)
    // A suspension, or a change of this process's clock, makes the earlier differences wrong.
    val isValid = last.exists(before => math.abs(before.suspendedUntil(now)) <= Resolution)
    aheadOfOwn = if (isValid) aheadOfOwn.narrowed(byOwn) else byOwn
    ahead = Some(ahead.filter(_ => isValid).fold(byRunning)(_.narrowed(byRunning)))
    last = Some(now)
  }

  /** Whether the service has told its time. */
  def isKnown: Boolean = synchronized(ahead).nonEmpty

  /** Returns a time that is not later than the service's current time, if that is known. */
  def atLeast: Long = synchronized(ahead).fold(own.currentMillis)(_.least + millis(own.nanoTime))

  /**
   * Returns a time that is not earlier than the service's current time, unless the machine was suspended since the
   * last answer.
   */
  def atMost: Long = synchronized(ahead).fold(own.currentMillis)(_.most + millis(own.nanoTime) + 1)

  /**
   * Returns a time that is not earlier than the service's current time, also if the machine was suspended since the
   * last answer: the clocks moved then, and the running time did not. If this process's clock was set forward since,
   * the time is too late, so a new answer must confirm what follows from it.
   */
  def latestPossible: Long = math.max(atMost, synchronized(aheadOfOwn).most + own.currentMillis)

  /** Whether this process's clock shows that the machine was suspended, or was set forward, since the last answer. */
  def isDoubtful: Boolean = latestPossible - atMost > Doubt

  /**
   * Converts a time of this process's clock to a time that is not later than the service's time at that moment, also if
   * the machine was suspended since.
   */
  def ofOwn(millis: Long): Long = millis + synchronized(aheadOfOwn).least
}

object ServiceClock {

  /**
   * A time by the clocks of this process.
   *
   * @param runningMillis
   *   by this process's running time, in milliseconds
   * @param ownMillis
   *   by this process's clock, in epoch milliseconds
   */
  final case class Moment(runningMillis: Long, ownMillis: Long) {

    /** Returns the milliseconds until a later time, with those for which the machine was suspended. */
    def millisUntil(later: Moment): Long = later.runningMillis - runningMillis + math.max(0, suspendedUntil(later))

    /** Returns by how many milliseconds this process's clock moved more than its running time. */
    def suspendedUntil(later: Moment): Long = later.ownMillis - ownMillis - (later.runningMillis - runningMillis)
  }

  /** Bounds of a time or a difference, in milliseconds. */
  final private case class Bounds(least: Long, most: Long) {
    def minus(millis: Long): Bounds = Bounds(least - millis, most - millis)

    /** Returns what both bounds include. An answer that contradicts earlier answers replaces them. */
    def narrowed(by: Bounds): Bounds = {
      val both = Bounds(math.max(least, by.least), math.min(most, by.most))
      if (both.least <= both.most) both else by
    }
  }

  /** HTTP dates have a precision of one second. */
  private val Resolution = 1000L

  /** Maximum difference that may be a correction of this process's clock. */
  private val Doubt = 10000L

  private def millis(nanos: Long): Long = Math.floorDiv(nanos, 1000000L)
}
