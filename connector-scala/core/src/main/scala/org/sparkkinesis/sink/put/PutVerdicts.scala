package org.sparkkinesis.sink.put

import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.retry.RetryRules
import org.sparkkinesis.service.{KmsErrors, Operation, ServiceErrorKind, ServiceException}
import org.sparkkinesis.sink.{RetryCause, Verdict}

/**
 * Maps refusals by a service to verdicts. Pure.
 *
 * @param operation
 *   the operation that writes the records
 * @param throttles
 *   error codes with which the service throttles a call or one of its records
 * @param rules
 *   failures that are retried
 */
final class PutVerdicts(operation: Operation, throttles: Set[String], rules: RetryRules) {
  import PutVerdicts._

  /** Returns the verdict of an entry that the service refused in a successful call. */
  def refused(code: String, message: String): Verdict =
    if (throttles(code)) Verdict.Retry(RetryCause.Throttled, s"$code: $message")
    else if (isFinal(code)) {
      val error = new ServiceException(KmsErrors.kindOf(code), operation, code, message)
      if (rules.isRecoverable(error)) Verdict.Retry(RetryCause.Failed, error.getMessage) else Verdict.Fatal(error)
    } else Verdict.Retry(RetryCause.Failed, s"$code: $message")

  /** Returns the verdict of all entries of a failed call. */
  def of(failure: Throwable): Verdict = Futures.unwrap(failure) match {
    case error: ServiceException =>
      error.kind match {
        case _ if throttles(error.errorCode) => Verdict.Retry(RetryCause.Throttled, error.getMessage)
        case ServiceErrorKind.Throttled | ServiceErrorKind.LimitExceeded =>
          Verdict.Retry(RetryCause.Throttled, error.getMessage)
        // A call that was interrupted or failed inside the service may have stored its records.
        case ServiceErrorKind.Network | ServiceErrorKind.Internal =>
          Verdict.Retry(if (error.mayBeDone) RetryCause.Unanswered else RetryCause.Failed, error.getMessage)
        case _ if rules.isRecoverable(error) => Verdict.Retry(RetryCause.Failed, error.getMessage)
        case _ => Verdict.Fatal(error)
      }
    case other => Verdict.Fatal(other)
  }
}

private object PutVerdicts {
  def isFinal(code: String): Boolean = code.startsWith("KMS") || code.startsWith("AccessDenied")
}
