package org.sparkkinesis.emulator.fault

import scala.util.matching.Regex

/** What goes wrong with a call. Times are milliseconds on the emulator's clock. */
sealed trait FaultEffect

object FaultEffect {

  /** Answered with an error, and nothing done. */
  final case class Error(status: Int, errorType: String, message: String) extends FaultEffect

  /** Done and answered, only later. */
  final case class Delay(millis: Long) extends FaultEffect

  /** Done at once, but the answer comes late. */
  final case class LateAnswer(millis: Long) extends FaultEffect

  /** Done, but answered with an error: the caller's retry puts duplicates. */
  final case class LostAnswer(error: Error) extends FaultEffect

  /** Never answered, and nothing done. */
  case object Silence extends FaultEffect

  /** The connection is cut instead of an answer; `done` says whether the call had its effect. */
  final case class Cut(done: Boolean) extends FaultEffect

  /** The HTTP/2 stream is reset instead of an answer; over HTTP/1.1 the connection is cut. */
  case object ResetStream extends FaultEffect

  /** The connection is told to go away, and the call is answered. */
  case object GoAway extends FaultEffect

  /** It concerns parts of a call, each as the rule's probability says, and not the call. */
  sealed trait OfParts extends FaultEffect

  /** Entries of a PutRecords fail, as far as the rule's key pattern says. */
  final case class FailEntries(errorType: String, message: String) extends OfParts

  /** ListShards leaves the rule's shard out, as a listing may that is made while a reshard is under way. */
  case object LeaveOut extends OfParts

  /** The subscription opens and goes wrong in its event stream. */
  sealed trait OfSubscription extends FaultEffect

  /** It ends in an orderly way after so many events. */
  final case class EndAfter(events: Int) extends OfSubscription

  /** It fails with an exception in the stream after so many events. */
  final case class FailAfter(events: Int, error: Error) extends OfSubscription

  /** It stays open without a sign of life, not even idle events. */
  case object Mute extends OfSubscription

  /** Every event is sent twice. */
  case object DuplicateEvents extends OfSubscription

  /** The HTTP/2 stream is reset after so many events. */
  final case class ResetAfter(events: Int) extends OfSubscription
}

/**
 * Which calls a fault hits: what is left empty matches all.
 *
 * @param probability
 *   of each matching call (for `FailEntries`: of each matching entry, for `LeaveOut`: of each matching shard)
 * @param skip
 *   how many matching calls pass before it begins
 * @param count
 *   how many calls it hits at most
 * @param forMillis
 *   how long it holds from when it was added; 0 is for ever
 * @param partitionKey
 *   for `FailEntries`: the keys that may fail
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
    partitionKey: Option[Regex] = None
) {
  require(probability >= 0 && probability <= 1, s"a probability is between 0 and 1, was $probability")

  private[fault] def matches(call: FaultTarget): Boolean =
    fits(operation, call.operation) && fits(stream, call.stream) && fits(shard, call.shard)

  private def fits(wanted: String, actual: String): Boolean = wanted.isEmpty || wanted == actual
}

/** A call as rules see it. */
final case class FaultTarget(operation: String, stream: String, shard: String)
