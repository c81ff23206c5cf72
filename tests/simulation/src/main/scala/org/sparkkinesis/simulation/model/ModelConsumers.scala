package org.sparkkinesis.simulation.model

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.model._
import org.sparkkinesis.model.packed.PackedRecords
import org.sparkkinesis.service.{Operation, _}

/** Models enhanced fan-out: registered consumers, and subscriptions with the five-second rule. */
final class ModelConsumers(service: ModelKinesis) {
  import ModelConsumers._

  private val consumers = mutable.LinkedHashMap.empty[String, Registered]
  private val open = mutable.HashMap.empty[(String, ShardId), ModelSubscription]

  def of(streamArn: String): Seq[StreamConsumer] =
    consumers.values.filter(_.streamArn == streamArn).map(_.describe(service.now)).toVector

  def register(streamArn: String, name: String): StreamConsumer = {
    if (consumers.values.exists(consumer => consumer.streamArn == streamArn && consumer.name == name))
      throw service.refused(ServiceErrorKind.ResourceInUse, Operation.RegisterStreamConsumer, s"Consumer $name exists.")
    service.existing(StreamRef.parse(streamArn).get, Operation.RegisterStreamConsumer)
    val arn = s"$streamArn/consumer/$name:${service.now / 1000}${consumers.size}"
    val registered = new Registered(streamArn, name, arn, service.now)
    consumers(arn) = registered
    registered.describe(service.now)
  }

  def named(streamArn: String, name: String): StreamConsumer =
    consumers.values.find(consumer => consumer.streamArn == streamArn && consumer.name == name)
      .fold(throw notFound(name, Operation.DescribeStreamConsumer))(_.describe(service.now))

  def existing(arn: String, operation: Operation): StreamConsumer =
    consumers.get(arn).fold(throw notFound(arn, operation))(_.describe(service.now))

  def deregister(arn: String): Unit =
    if (consumers.remove(arn).isEmpty) throw notFound(arn, Operation.DeregisterStreamConsumer)

  /** Removes the consumers of a deleted stream. */
  def forget(streamArn: String): Unit = consumers.filterInPlace((_, consumer) => consumer.streamArn != streamArn)

  def subscribe(arn: String, shardId: ShardId, position: StartingPosition, subscription: ModelSubscription): Unit = {
    val consumer = existing(arn, Operation.SubscribeToShard)
    if (consumer.status != ConsumerStatus.Active)
      throw service.refused(ServiceErrorKind.ResourceInUse, Operation.SubscribeToShard, "The consumer is not active.")
    val stream = service.existing(StreamRef.parse(arn.split("/consumer/").head).get, Operation.SubscribeToShard)
    val shard = service.livingShard(stream, shardId, Operation.SubscribeToShard)
    val key = (arn, shardId)
    val other = open.get(key).filter(_.isOpen)
    val isRefused =
      other.exists(service.now - _.openedMillis < KinesisQuotas.Lifetime.SubscriptionTakeover.toMillis)
    service.calls.subscribed(arn, shard, isRefused)
    other.foreach { other =>
      if (isRefused)
        throw service.refused(
          ServiceErrorKind.ResourceInUse,
          Operation.SubscribeToShard,
          "Another active subscription exists."
        )
      other.end()
    }
    open(key) = subscription
    subscription.begin(stream, shard, service.indexOf(shard, position, Operation.SubscribeToShard))
  }

  /** Pushes to subscriptions of a shard that has a new record or was closed. */
  def changed(shard: ModelShard): Unit = open.valuesIterator.filter(_.reads(shard)).foreach(_.pushSoon())

  private def notFound(what: String, operation: Operation): ServiceException =
    service.refused(ServiceErrorKind.ResourceNotFound, operation, s"Consumer $what not found.")
}

private object ModelConsumers {
  final class Registered(val streamArn: String, val name: String, val arn: String, createdMillis: Long) {
    def describe(now: Long): StreamConsumer =
      StreamConsumer(name, arn, status(now), createdMillis)

    private def status(now: Long): ConsumerStatus =
      if (now - createdMillis < CreationMillis) ConsumerStatus.Creating else ConsumerStatus.Active
  }
  val CreationMillis: Long = 3000L
}

/**
 * A subscription. It pushes available records, or an empty event if there are none, and ends after five minutes.
 * Events wait in the buffers of the connection until the subscriber requests them; the service pauses when these are
 * full.
 */
final class ModelSubscription(service: ModelKinesis, subscriber: ShardSubscriber, isReachable: () => Boolean)
    extends ShardSubscription {
  import ModelSubscription._

  private var wanted = 0L
  private val buffered = mutable.Queue.empty[SubscribeToShardEvent]
  private var bufferedBytes = 0L

  /** What the subscriber receives after the buffered events. */
  private var last = Option.empty[() => Unit]
  private var index = 0
  private var stream: ModelStream = null
  private var shard: ModelShard = null
  private var over = false
  private var isPushDue = false
  private var lastEventMillis = 0L
  var openedMillis = 0L

  def isOpen: Boolean = !over && shard != null
  def reads(changed: ModelShard): Boolean = isOpen && (shard eq changed)

  override def request(n: Long): Unit = {
    wanted += n
    service.scheduler.execute { () =>
      deliver()
      pushSoon()
    }
  }

  override def cancel(): Unit = {
    over = true
    last = None
    buffered.clear()
  }

  private def deliver(): Unit = {
    while (wanted > 0 && buffered.nonEmpty) {
      wanted -= 1
      val event = buffered.dequeue()
      bufferedBytes -= sizeOf(event)
      subscriber.onEvent(event)
    }
    if (buffered.isEmpty) last.foreach { signal =>
      last = None
      signal()
    }
  }

  private def sizeOf(event: SubscribeToShardEvent): Long = EventOverhead + PackedRecords.sizeOf(event.records)

  /** Ends the subscription with a signal that follows the buffered events. */
  private def endWith(signal: => Unit): Unit = {
    over = true
    last = Some(() => signal)
    deliver()
  }

  def refuse(error: ServiceException): Unit = if (!over) {
    over = true
    subscriber.onError(error)
  }

  def begin(ofStream: ModelStream, ofShard: ModelShard, from: Int): Unit = if (!over) {
    stream = ofStream
    shard = ofShard
    index = from
    openedMillis = service.now
    lastEventMillis = service.now
    subscriber.onSubscribed()
    service.scheduler.schedule(KinesisQuotas.Lifetime.Subscription)(end())
    idle()
    pushSoon()
  }

  /** Completes the subscription, for example after five minutes or when another subscription takes over. */
  def end(): Unit = if (isOpen) {
    if (isReachable()) endWith(subscriber.onComplete()) else over = true
  }

  private def idle(): Unit = {
    service.scheduler.schedule(service.settings.idleEventMillis.millis) {
      if (isOpen) {
        if (service.now - lastEventMillis >= service.settings.idleEventMillis)
          push(evenEmpty = true)
        idle()
      }
    }
    ()
  }

  def pushSoon(): Unit = if (isOpen && !isPushDue) {
    isPushDue = true
    service.scheduler.schedule(service.latencyMillis.millis) {
      isPushDue = false
      push(evenEmpty = false)
    }
    ()
  }

  private def push(evenEmpty: Boolean): Unit =
    if (isOpen && bufferedBytes < Window && isReachable() && !service.faults.holds(ServiceFault.SilentSubscriptions)) {
      if (!service.stream(stream.arn).exists(_ eq stream) || stream.isExpired(shard, service.now)) fail()
      else {
        stream.trim(shard, service.now)
        index = math.max(index, shard.trimmed)
        val records = Pages.of(shard, index, service.settings.recordsPerAnswer, EventBytes)
        val isEnd = service.tellsEnd(shard, index + records.size, records.isEmpty)
        if (records.nonEmpty || isEnd || evenEmpty) tell(records, isEnd)
      }
    }

  private def tell(records: Vector[KinesisRecord], isEnd: Boolean): Unit = {
    index += records.size
    lastEventMillis = service.now
    val children = if (isEnd) Pages.children(service, shard) else Nil
    val continuation =
      if (isEnd) None
      else if (index >= shard.records.size) Some(shard.continuation)
      else if (index == 0) Some(shard.startingNumber)
      else Some(shard.number(index.toLong))
    val event = SubscribeToShardEvent(records, continuation, service.millisBehind(shard, index), children)
    buffered.enqueue(event)
    bufferedBytes += sizeOf(event)
    deliver()
    if (isEnd) end() else if (index < shard.records.size || !shard.isOpen) pushSoon()
  }

  private def fail(): Unit = endWith(subscriber.onError(service.refused(
    ServiceErrorKind.ResourceNotFound,
    Operation.SubscribeToShard,
    "The shard does not exist."
  )))
}

private object ModelSubscription {

  /** Maximum size of a pushed event, as in the emulator. The service's own limit is not documented. */
  val EventBytes: Long = 512L * 1024

  /** Size of an event without records, with its JSON and the headers of its message. */
  val EventOverhead: Long = 200L

  /** The size of the buffered events at which the service pauses: the SDK's initial window of HTTP/2. */
  val Window: Long = 1024L * 1024
}
