package org.sparkkinesis.simulation.write

import scala.concurrent.duration._

import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.service.{ServiceErrorKind, ServiceException}
import org.sparkkinesis.simulation.common.Violation
import org.sparkkinesis.simulation.metadata.LogicalStream
import org.sparkkinesis.simulation.write.schedule._
import org.sparkkinesis.simulation.write.task._
import org.sparkkinesis.sink._

/** Decides whether a task may fail in this way after the events of its streams. */
final class WriteVerdict(
    setup: WriteSetup,
    settings: AsyncSinkSettings,
    strategies: StrategyFaults,
    streams: StreamTroubles,
    logical: Option[LogicalStream]
) {
  private var hasFaults = false

  /** Records that the service starts to fail. */
  def fault(): Unit = hasFaults = true

  def judge(error: Throwable): Unit = error match {
    case _: TaskFailed => ()
    case late: DeliveryFailedException =>
      val hasRetries = setup.options.contains("retry.putRecords.maxRetries")
      if (late.waitedMillis.millis < settings.deliveryTimeout && !hasRetries)
        throw new Violation("early", "a record was given up before deliveryTimeout", late)
    case limited: RateLimitingFailedException =>
      if (strategies.count == 0) throw new Violation("strategy", "no strategy has thrown an exception", limited)
    case stalled: DestinationStalledException =>
      if (!hasFaults && streams.deletions == 0)
        throw new Violation("stall", s"nothing has failed: ${stalled.getMessage}", stalled)
    case error: KinesisConnectorException => ofRoutes(error)
    case fatal: FatalSinkException => ofService(fatal.getCause)
    case unusable: StreamUnusable =>
      // The failure is a long outage, or a stream that is being created.
      if (!hasFaults && streams.deletions == 0) throw new Violation("refusal", unusable.getMessage, unusable)
    case other => ofService(other)
  }

  /** A document may have no active stream, and at the first start there may be none. */
  private def ofRoutes(error: KinesisConnectorException): Unit = error.condition match {
    case "KINESIS_SINK_NO_ACTIVE_STREAM" if logical.exists(_.lackedActive) => ()
    case "KINESIS_METADATA_UNAVAILABLE" if logical.exists(_.hasFailed) => ()
    case _ => throw new Violation("routes", s"the query failed: $error", error)
  }

  private def ofService(error: Throwable): Unit = error match {
    case gone: ServiceException if gone.kind == ServiceErrorKind.ResourceNotFound && streams.deletions > 0 => ()
    case lost: ServiceException if lost.kind == ServiceErrorKind.Client && hasFaults => ()
    case other => throw new Violation("failure", s"a task failed: $other", other)
  }
}
