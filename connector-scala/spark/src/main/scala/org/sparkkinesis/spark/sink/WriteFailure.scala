package org.sparkkinesis.spark.sink

import org.sparkkinesis.aws.client.ClientSettings
import org.sparkkinesis.error.SinkErrors
import org.sparkkinesis.service.ServiceException
import org.sparkkinesis.sink.{
  DeliveryFailedException, DestinationStalledException, FatalSinkException, RateLimitingFailedException
}
import org.sparkkinesis.spark.connection.ServiceFailure

/** Turns the failure of a writer into an error with a condition. */
object WriteFailure {

  /** Returns the reason for which the destination rejected an entry, if that is what failed the writer. */
  def reason(failure: Throwable): Throwable = failure match {
    case fatal: FatalSinkException => reason(fatal.getCause)
    case other => other
  }

  def explain(failure: Throwable, stream: String, settings: ClientSettings): Throwable = reason(failure) match {
    case strategy: RateLimitingFailedException =>
      SinkErrors.rateLimitingFailed(stream = stream, reason = strategy.getMessage).causedBy(strategy)
    case error: ServiceException => ServiceFailure.explain(error, stream, settings)
    case late: DeliveryFailedException =>
      SinkErrors.deliveryFailed(
        stream = stream,
        attempts = late.attempts,
        waited = late.waitedMillis,
        lastReason = if (late.lastReason.isEmpty) "none" else late.lastReason
      ).causedBy(late)
    case stalled: DestinationStalledException =>
      SinkErrors.deliveryFailed(
        stream = stream,
        attempts = 1,
        waited = stalled.waitedMillis,
        lastReason = "no request was accepted"
      ).causedBy(stalled)
    case other => other
  }
}
