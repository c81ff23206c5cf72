package org.sparkkinesis.aws.transport

import java.util.concurrent.TimeoutException

import scala.concurrent.duration.FiniteDuration

/** The maximum time of a call, which begins now. */
final private[aws] class TimeLimit(duration: FiniteDuration) {

  /** The `System.nanoTime` at which the call is given up. */
  val end: Long = System.nanoTime + duration.toNanos

  def left: Long = math.max(0, end - System.nanoTime)

  /** @param what what was not there in time */
  def exceeded(what: String): TimeoutException = new TimeoutException(s"$what within $duration")
}
