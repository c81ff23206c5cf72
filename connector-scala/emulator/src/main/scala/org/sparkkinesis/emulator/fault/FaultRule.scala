package org.sparkkinesis.emulator.fault

import scala.util.matching.Regex

/** The effect of a fault on a call. Times are milliseconds of the emulator's clock. */
sealed trait FaultEffect

object FaultEffect {

  /** The call has no effect and is answered with an error. */
  final case class Error(status: Int, errorType: String, message: String) extends FaultEffect

  /** The call is executed and answered later. */
  final case class Delay(millis: Long) extends FaultEffect

  /** The call is executed at once and answered later. */
  final case class LateAnswer(millis: Long) extends FaultEffect

  /** The call is executed but answered with an error, so that a retry writes duplicates. */
  final case class LostAnswer(error: Error) extends FaultEffect

  /** The call has no effect and is never answered. */
  case object Silence extends FaultEffect

  /** The connection is closed instead of an answer. `done` says whether the call is executed. */
  final case class Cut(done: Boolean) extends FaultEffect

  /** The HTTP/2 stream is reset instead of an answer. With HTTP/1.1, the connection is closed. */
  case object ResetStream extends FaultEffect

  /** The call is answered, and the server sends GOAWAY on the connection. */
  case object GoAway extends FaultEffect

  /** An effect on parts of a call. The probability of the rule applies to each part. */
  sealed trait OfParts extends FaultEffect

  /** Entries of a PutRecords or PutRecordBatch call fail if their partition key, if any, matches the rule. */
  final case class FailEntries(errorType: String, message: String) extends OfParts

  /** ListShards does not return the shard of the rule, as it may happen during a resharding. */
  case object LeaveOut extends OfParts

  /** An effect on the answer of the metadata page. */
  sealed trait OfDocument extends FaultEffect

  /** The page answers with an empty body. */
  case object EmptyDocument extends OfDocument

  /** The page answers with the document before the current one. */
  case object OlderDocument extends OfDocument

  /** The page answers with the first half of the document. */
  case object TruncatedDocument extends OfDocument

  /** The page answers with a redirection to another address. */
  final case class Redirect(location: String) extends OfDocument

  /** An effect on the event stream of a subscription, which opens normally. */
  sealed trait OfSubscription extends FaultEffect

  /** The subscription ends without an error after this number of events. */
  final case class EndAfter(events: Int) extends OfSubscription

  /** The subscription fails with an exception in its event stream after this number of events. */
  final case class FailAfter(events: Int, error: Error) extends OfSubscription

  /** The subscription stays open but sends no events, not even empty ones. */
  case object Mute extends OfSubscription

  /** Each event is sent twice. */
  case object DuplicateEvents extends OfSubscription

  /** The HTTP/2 stream is reset after this number of events. */
  final case class ResetAfter(events: Int) extends OfSubscription
}

/**
 * A fault and the calls that it affects. An empty member matches all calls.
 *
 * @param probability
 *   the probability for each matching call; for `FailEntries` for each matching entry, for `LeaveOut` for each
 *   matching shard
 * @param skip
 *   the number of matching calls before the first affected call
 * @param count
 *   the maximum number of affected calls
 * @param forMillis
 *   how long the rule is active after it was added; 0 for no limit
 * @param partitionKey
 *   the partition keys that `FailEntries` affects
 * @param account
 *   the account of the calls: of the stream's ARN if the call names one, otherwise of the caller
 * @param region
 *   the region of the calls, determined like the account; one rule can be the outage of a region
 */
final case class FaultRule(
    effect: FaultEffect,
    operation: String = "",
    stream: String = "",
    shard: String = "",
    probability: Double = 1.0,
    skip: Int = 0,
    count: Int = Int.MaxValue,
    forMillis: Long = 0,
    partitionKey: Option[Regex] = None,
    account: String = "",
    region: String = ""
) {
  require(
    probability >= 0 && probability <= 1,
    s"The probability of a fault must be between 0 and 1, but was $probability."
  )

  private[fault] def matches(call: FaultTarget): Boolean =
    fits(operation, call.operation) && fits(stream, call.stream) && fits(shard, call.shard) &&
      fits(account, call.account) && fits(region, call.region)

  private def fits(wanted: String, actual: String): Boolean = wanted.isEmpty || wanted == actual
}

/** The properties of a call that rules match. */
final case class FaultTarget(
    operation: String,
    stream: String,
    shard: String,
    account: String = "",
    region: String = ""
)

object FaultTarget {

  /** The operation name of the metadata page. Only rules with this operation affect the page. */
  val MetadataPage = "GetMetadata"
}
