package org.sparkkinesis.sink.kinesis.put

import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.model.ShardId
import org.sparkkinesis.retry.RetryRules
import org.sparkkinesis.service.{Operation, PutResult, ServiceErrorKind, ServiceException}
import org.sparkkinesis.sink.{RetryCause, Verdict}

/** The verdict of an entry and the shard that stored it. */
final private[kinesis] case class Answer(verdict: Verdict, shard: Option[ShardId])

/**
 * Maps responses of PutRecords to verdicts. Pure.
 *
 * @param rules
 *   failures that are retried
 */
final class PutVerdicts(rules: RetryRules) {
  import PutVerdicts._

  /** Returns the verdict of one entry of a successful call. */
  def of(result: PutResult): Verdict = result match {
    case _: PutResult.Accepted => Verdict.Accepted
    case PutResult.Rejected(code, message) =>
      if (Throttles(code)) Verdict.Retry(RetryCause.Throttled, s"$code: $message")
      else if (isFinal(code)) {
        val error = new ServiceException(ServiceErrorKind.Encryption, Operation.PutRecords, code, message)
        if (rules.isRecoverable(error)) Verdict.Retry(RetryCause.Failed, error.getMessage) else Verdict.Fatal(error)
      } else Verdict.Retry(RetryCause.Failed, s"$code: $message")
  }

  /** Returns the verdict of all entries of a failed call. */
  def of(failure: Throwable): Verdict = Futures.unwrap(failure) match {
    case error: ServiceException =>
      error.kind match {
        case ServiceErrorKind.Throttled | ServiceErrorKind.LimitExceeded =>
          Verdict.Retry(RetryCause.Throttled, error.getMessage)
        // A call that was interrupted or failed inside the service may have stored its records.
        case ServiceErrorKind.Network | ServiceErrorKind.Internal =>
          Verdict.Retry(RetryCause.Unanswered, error.getMessage)
        case _ if rules.isRecoverable(error) => Verdict.Retry(RetryCause.Failed, error.getMessage)
        case _ => Verdict.Fatal(error)
      }
    case other => Verdict.Fatal(other)
  }
}

private object PutVerdicts {
  val Throttles = Set("ProvisionedThroughputExceededException", "KMSThrottlingException", "ThrottlingException")

  def isFinal(code: String): Boolean = code.startsWith("KMS") || code.startsWith("AccessDenied")
}
