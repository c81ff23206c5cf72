package org.sparkkinesis.sink

import java.util.concurrent.CompletableFuture

import scala.concurrent.duration.FiniteDuration

import org.sparkkinesis.sink.limit.Lane

/**
 * Where entries go. The one thing to implement for a new destination; the writer knows nothing else of it.
 *
 * Every method is called from several threads. None may block: `send` starts a request and returns.
 */
trait SinkDestination[Entry] {

  /** Bytes that the entry takes of a request, as the destination counts them. */
  def sizeOf(entry: Entry): Int

  /**
   * Starts one request. The answer tells about each entry, in the order of `batch`; a failed future is fatal for all.
   *
   * The writer cancels the future of a request that has no answer in time, and sends nothing of it again before the future is
   * done. A destination whose requests can still take effect after they were given up returns an
   * [[org.sparkkinesis.concurrent.AbortableFuture]], which is done when the request has ended.
   */
  def send(batch: IndexedSeq[Entry]): CompletableFuture[IndexedSeq[Verdict]]

  /** What the entry's own limits belong to; entries of a lane that may not send now wait, those of others go on. */
  def lane(entry: Entry): Lane = Lane.Unlimited

  /** Entries of an equal key are accepted in the order in which they were written; `None` promises no order. */
  def orderKey(entry: Entry): Option[Any] = None

  /**
   * Whether one request may carry several entries of an order key. True promises that whenever one of them is not accepted,
   * none behind it is.
   */
  def keepsKeysTogether: Boolean = false

  /** Takes note that a request got no answer within this time and is cancelled; its entries are sent again. */
  def timedOut(entries: Int, after: FiniteDuration): Unit = ()
}

/** What became of one entry of a request. */
sealed trait Verdict

object Verdict {
  case object Accepted extends Verdict

  /** To be sent again. */
  final case class Retry(cause: RetryCause, reason: String) extends Verdict

  /** No retry will help; the writer fails. */
  final case class Fatal(error: Throwable) extends Verdict
}

sealed trait RetryCause

object RetryCause {

  /** Refused for going too fast. */
  case object Throttled extends RetryCause

  /** Refused for another reason that may pass. */
  case object Failed extends RetryCause

  /** No answer came: the destination may have stored it, so sending it again may double it. */
  case object Unanswered extends RetryCause

  /** Stored, but where some readers would not find it: sending it again may double it. */
  case object Misplaced extends RetryCause

  /** Left out of the request; neither an attempt nor a failure. */
  case object NotSent extends RetryCause
}

/** Turns what the user writes into what the destination takes; called on the writing thread, before anything is buffered. */
@FunctionalInterface
trait ElementConverter[-Input, +Entry] {
  def convert(input: Input): Entry
}
