package org.sparkkinesis.consume.fanout

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.Scheduler
import org.sparkkinesis.consume.FakeKinesis
import org.sparkkinesis.model._
import org.sparkkinesis.service.{
  Operation, ServiceErrorKind, ServiceException, ShardSubscriber, ShardSubscription, SubscribeToShardEvent
}

/** Subscriptions whose callbacks the test triggers. They never deliver more events than requested. */
class FakeSubscriptions(scheduler: Scheduler) extends FakeKinesis(scheduler, 10.millis) {
  final class Opened(val position: StartingPosition, val subscriber: ShardSubscriber, val atNanos: Long)
      extends ShardSubscription {
    var requested = 0L
    var delivered = 0L
    var cancelled = false
    override def request(n: Long): Unit = requested += n
    override def cancel(): Unit = cancelled = true

    def accept(): this.type = { subscriber.onSubscribed(); this }
    def give(event: SubscribeToShardEvent): Unit = {
      delivered += 1
      assert(delivered <= requested, "an event was delivered without demand")
      subscriber.onEvent(event)
    }
    def records(behind: Long, numbers: Int*): Unit = give(Events.of(behind, numbers: _*))
    def idle(after: Int): Unit = give(SubscribeToShardEvent(IndexedSeq.empty, Some(Events.number(after)), 0, Nil))
    def end(children: Seq[ChildShard], numbers: Int*): Unit =
      give(SubscribeToShardEvent(numbers.map(Events.record).toVector, None, 0, children))
    def fail(kind: ServiceErrorKind): Unit =
      subscriber.onError(new ServiceException(kind, Operation.SubscribeToShard, s"${kind}Exception", "injected"))
    def complete(): Unit = subscriber.onComplete()
  }

  val opened = mutable.ArrayBuffer.empty[Opened]
  def last: Opened = opened.last

  override def subscribeToShard(
      consumerArn: String,
      shard: ShardId,
      position: StartingPosition,
      subscriber: ShardSubscriber
  ): ShardSubscription = {
    val subscription = new Opened(position, subscriber, scheduler.nanoTime)
    opened += subscription
    subscription
  }
}

object Events {
  def number(n: Int): SequenceNumber = SequenceNumber(n.toString)
  def record(n: Int): KinesisRecord = new KinesisRecord(n.toString, "k", n.toLong, Array.emptyByteArray, null)
  def of(behind: Long, numbers: Int*): SubscribeToShardEvent =
    SubscribeToShardEvent(numbers.map(record).toVector, numbers.lastOption.map(number), behind, Nil)
}
