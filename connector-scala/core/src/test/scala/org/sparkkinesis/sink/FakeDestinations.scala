package org.sparkkinesis.sink

import java.util.concurrent.{CancellationException, CompletableFuture}

import scala.collection.mutable
import scala.concurrent.duration.FiniteDuration

import org.sparkkinesis.concurrent.AbortableFuture
import org.sparkkinesis.sink.Verdict._
import org.sparkkinesis.sink.limit.Lane

/** An entry of the tests: number `n`, a size, an optional key and a lane. */
final case class Item(n: Int, size: Int = 1, key: Option[String] = None, lane: Lane = Lane.Unlimited)

/** A request whose response the test gives. */
final class OpenRequest(val items: IndexedSeq[Item], endsOnCancel: => Boolean = true) {
  var cancels = 0
  val answer: CompletableFuture[IndexedSeq[Verdict]] = new AbortableFuture[IndexedSeq[Verdict]](() => cancelled())
  private def cancelled(): Unit = {
    cancels += 1
    if (endsOnCancel) { answer.completeExceptionally(new CancellationException); () }
  }
  def numbers: Seq[Int] = items.map(_.n)
  def accept(): Unit = judge(_ => Accepted)
  def judge(verdict: Item => Verdict): Unit = { answer.complete(items.map(verdict)); () }
}

/** Keeps every request open until the test responds. */
class WaitingDestination(override val keepsKeysTogether: Boolean = false) extends SinkDestination[Item] {
  val requests = mutable.ArrayBuffer.empty[OpenRequest]
  val unanswered = mutable.ArrayBuffer.empty[(Int, FiniteDuration)]

  /** Whether a cancelled request ends immediately and without a verdict. */
  var endsOnCancel = true

  override def sizeOf(entry: Item): Int = entry.size
  override def lane(entry: Item): Lane = entry.lane
  override def timedOut(entries: Int, after: FiniteDuration): Unit = unanswered += entries -> after
  override def orderKey(entry: Item): Option[Any] = entry.key
  override def send(batch: IndexedSeq[Item]): CompletableFuture[IndexedSeq[Verdict]] = synchronized {
    val request = new OpenRequest(batch, endsOnCancel)
    requests += request
    notifyAll()
    request.answer
  }

  def sent: Seq[Seq[Int]] = synchronized(requests.map(_.numbers).toSeq)
  def last: OpenRequest = synchronized(requests.last)

  /** Waits until a writer thread has sent this many requests. */
  def awaitRequests(count: Int): Unit = synchronized {
    val deadline = System.nanoTime() + 10L * 1000 * 1000 * 1000
    while (requests.size < count && System.nanoTime() < deadline) wait(1000)
    assert(requests.size >= count, s"only ${requests.size} of $count requests were sent")
  }
}

/** Responds immediately with `verdict`. */
final class PromptDestination(verdict: Item => Verdict) extends SinkDestination[Item] {
  val sent = mutable.ArrayBuffer.empty[Seq[Int]]
  override def sizeOf(entry: Item): Int = entry.size
  override def orderKey(entry: Item): Option[Any] = entry.key
  override def send(batch: IndexedSeq[Item]): CompletableFuture[IndexedSeq[Verdict]] = {
    sent += batch.map(_.n)
    CompletableFuture.completedFuture(batch.map(verdict))
  }
}

/** A lane that the test opens and closes. */
class GateLane(val name: String) extends Lane {
  @volatile var openAt = 0L
  var heard: Seq[(Int, Int)] = Nil
  override def tryTake(size: Int, nowNanos: Long): Boolean = nowNanos >= openAt
  override def readyAtNanos(nowNanos: Long): Long = openAt
  override def settled(accepted: Int, throttled: Int, sentAtNanos: Long, nowNanos: Long): Boolean = {
    heard :+= (accepted -> throttled)
    true
  }
}
