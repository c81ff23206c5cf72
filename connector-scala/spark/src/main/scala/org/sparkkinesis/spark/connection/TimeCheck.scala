package org.sparkkinesis.spark.connection

import scala.concurrent.duration._

import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.event.{EventSink, ServiceTimeNotRead}
import org.sparkkinesis.spark.connection.ServiceClock.Moment

/**
 * Asks the service for its time when this process's clock shows that the machine was suspended. Until the service's
 * next answer, the query would take the time before the suspension for the current one. Thread-safe.
 *
 * @param streams
 *   returns the streams of which a description can be requested
 * @param describe
 *   requests the description of a stream, which tells `clock` the time; fails within seconds
 */
final private[spark] class TimeCheck(
    clock: ServiceClock,
    streams: () => Iterable[String],
    describe: String => Any,
    events: EventSink
) {
  import TimeCheck._

  /** When the last attempt ended, and its failure. */
  private var last = Option.empty[(Moment, Option[KinesisConnectorException])]

  /** Number of attempts. Each one asks about the next stream, because one of them may have been deleted. */
  private var attempts = 0

  /**
   * Requests the service's time if it is doubtful, unless the last attempt was a few seconds ago. Returns the failure
   * of the last attempt if the time is not known. May block for some seconds.
   */
  def confirm(): Option[KinesisConnectorException] = if (!clock.isDoubtful) None
  else synchronized {
    val all = streams().toVector
    if (!clock.isDoubtful) None
    else {
      if (all.nonEmpty && last.forall(_._1.millisUntil(clock.now) >= Period.toMillis)) {
        attempts += 1
        val asked = all(attempts % all.size)
        val failure = ask(asked)(describe(asked))
        last = Some(clock.now -> failure)
      }
      last.flatMap(_._2)
    }
  }

  /** Requests the service's time by the description of a stream. Returns the failure, if there is one. */
  def ask(stream: String)(description: => Any): Option[KinesisConnectorException] =
    try {
      description
      None
    } catch {
      case failure: KinesisConnectorException =>
        events.emit(ServiceTimeNotRead(stream, failure))
        Some(failure)
    }
}

private object TimeCheck {

  /** Minimum time between two attempts. An attempt takes up to five seconds. */
  val Period: FiniteDuration = 15.seconds
}
