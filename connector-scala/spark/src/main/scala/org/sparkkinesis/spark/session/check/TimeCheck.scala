package org.sparkkinesis.spark.session.check

import scala.concurrent.duration._

import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.event.ServiceTimeNotRead
import org.sparkkinesis.spark.connection.ServiceClock.Asked
import org.sparkkinesis.spark.session.StreamSession

/**
 * Asks the service for its time when this process's clock shows that the machine was suspended. The query would take
 * the time before the suspension for the current one until the service's next answer. Thread-safe.
 */
final class TimeCheck(session: StreamSession) {
  import TimeCheck._

  /** When the service was asked last. */
  private var last = Option.empty[Asked]

  /**
   * Requests the service's time if it is doubtful, at most once a minute. Without an answer, the last known time stays
   * in use. May block for some seconds.
   */
  def confirm(): Unit = if (session.serviceClock.isDoubtful) synchronized {
    val now = session.serviceClock.asked
    if (session.serviceClock.isDoubtful && last.forall(_.millisUntil(now) >= Period.toMillis)) {
      last = Some(now)
      session.streams.keys.take(MaxStreams).find(isAnswered)
      ()
    }
  }

  private def isAnswered(arn: String): Boolean =
    try {
      session.probe(arn)
      true
    } catch {
      case failure: KinesisConnectorException =>
        session.events.emit(ServiceTimeNotRead(arn, failure))
        false
    }
}

private object TimeCheck {

  /** Minimum time between two attempts. */
  val Period: FiniteDuration = 1.minute

  /** Maximum number of streams that are described in one attempt: one of them may have been deleted. */
  val MaxStreams = 2
}
