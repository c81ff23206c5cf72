package org.sparkkinesis.sink

import java.util.concurrent.CompletableFuture

import scala.concurrent.duration.FiniteDuration

import org.sparkkinesis.sink.limit.Lane

/**
 * The destination of entries. A new destination implements only this trait.
 *
 * Every method is called from several threads and must not block: `send` starts a request and returns.
 */
trait SinkDestination[Entry] {

  /** Size of the entry in a request in bytes, as the destination counts it. */
  def sizeOf(entry: Entry): Int

  /**
   * Starts one request. The future contains a verdict for each entry in the order of `batch`; a failed future is fatal
   * for all entries.
   *
   * The writer cancels the future of a request that times out, and sends its entries again only after the future is
   * done. A destination whose requests can still take effect after cancellation returns an
   * [[org.sparkkinesis.concurrent.AbortableFuture]], which is done when the request has ended.
   */
  def send(batch: IndexedSeq[Entry]): CompletableFuture[IndexedSeq[Verdict]]

  /**
   * The lane whose limits apply to the entry. Entries of a lane at its limit wait while entries of other lanes
   * continue.
   */
  def lane(entry: Entry): Lane = Lane.Unlimited

  /** Entries with equal keys are accepted in the order of `write`; `None` promises no order. */
  def orderKey(entry: Entry): Option[Any] = None

  /**
   * Whether one request may contain several entries with the same order key. If true, no entry is accepted after an
   * entry with the same key that is not accepted.
   */
  def keepsKeysTogether: Boolean = false

  /** Reports that a request timed out after this time and is cancelled; its entries are sent again. */
  def timedOut(entries: Int, after: FiniteDuration): Unit = ()
}

/** Result of one entry of a request. */
sealed trait Verdict {

  /** Whether the destination may have stored the entry. */
  def mayBeStored: Boolean = this match {
    case Verdict.Accepted => true
    case Verdict.Retry(cause, _) => cause == RetryCause.Unanswered || cause == RetryCause.Misplaced
    case Verdict.Fatal(_) => false
  }
}

object Verdict {
  case object Accepted extends Verdict

  /** The entry must be sent again. */
  final case class Retry(cause: RetryCause, reason: String) extends Verdict

  /** The entry cannot succeed; the writer fails. */
  final case class Fatal(error: Throwable) extends Verdict
}

sealed trait RetryCause

object RetryCause {

  /** The destination throttled the entry. */
  case object Throttled extends RetryCause

  /** The destination rejected the entry for another temporary reason. */
  case object Failed extends RetryCause

  /** There was no response. The entry may have been stored, so sending it again may duplicate it. */
  case object Unanswered extends RetryCause

  /** The entry was stored where some readers do not find it. Sending it again may duplicate it. */
  case object Misplaced extends RetryCause

  /** The entry was not part of the request. This counts neither as an attempt nor as a failure. */
  case object NotSent extends RetryCause
}
