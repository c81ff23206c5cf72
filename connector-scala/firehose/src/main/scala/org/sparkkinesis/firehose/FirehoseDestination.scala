package org.sparkkinesis.firehose

import java.util.concurrent.CompletableFuture

import scala.concurrent.duration.FiniteDuration

import org.sparkkinesis.event.{CallThrottled, EventSink, PutFailed, PutTimedOut}
import org.sparkkinesis.retry.RetryRules
import org.sparkkinesis.service.Operation
import org.sparkkinesis.sink.put.{PutExchange, PutVerdicts}
import org.sparkkinesis.sink.{RetryCause, SinkDestination, Verdict}

/**
 * Writes payloads to one delivery stream with PutRecordBatch.
 *
 * @param rules
 *   failures that are retried
 */
final class FirehoseDestination(service: FirehoseService, stream: String, rules: RetryRules, events: EventSink)
    extends SinkDestination[Array[Byte]] {
  private val operation = Operation.PutRecordBatch
  private val verdicts = new PutVerdicts(operation, FirehoseDestination.Throttles, rules)

  override def sizeOf(data: Array[Byte]): Int = data.length

  override def timedOut(entries: Int, after: FiniteDuration): Unit =
    events.emit(PutTimedOut(stream, operation, entries, after.toMillis))

  override def send(batch: IndexedSeq[Array[Byte]]): CompletableFuture[IndexedSeq[Verdict]] = {
    val exchange = new PutExchange
    exchange.completesWith(exchange.calls(service.putRecordBatch(stream, batch)).handle { (refusals, failure) =>
      if (failure != null) {
        val verdict = verdicts.of(failure)
        // The code that aborted the request has reported it.
        if (!exchange.isAborted) note(verdict, batch.size)
        batch.map(_ => verdict)
      } else if (refusals.size != batch.size) {
        val error = new IllegalStateException(
          s"$operation returned ${refusals.size} results for ${batch.size} records"
        )
        batch.map(_ => Verdict.Fatal(error))
      } else
        refusals.map(_.fold[Verdict](Verdict.Accepted)(refused => verdicts.refused(refused.code, refused.message)))
    })
    exchange.verdicts
  }

  /** Emits no event for a fatal verdict, because the error of the writer reports it. */
  private def note(verdict: Verdict, records: Int): Unit = verdict match {
    case Verdict.Retry(RetryCause.Throttled, _) => events.emit(CallThrottled(stream, None, operation))
    case Verdict.Retry(_, reason) => events.emit(PutFailed(stream, operation, records, reason))
    case _ => ()
  }
}

private object FirehoseDestination {

  /** The error codes of the service while the throughput of the delivery stream is exceeded. */
  val Throttles = Set("ServiceUnavailableException")
}
