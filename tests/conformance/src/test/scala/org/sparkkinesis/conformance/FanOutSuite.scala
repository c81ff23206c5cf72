package org.sparkkinesis.conformance

import java.util.concurrent.atomic.AtomicInteger

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import software.amazon.awssdk.services.kinesis.model._

import org.sparkkinesis.conformance.backend.{OnBackend, OnOwn}
import org.sparkkinesis.conformance.client.Subscription.Signal
import org.sparkkinesis.conformance.client.{Calls, Subscription}
import org.sparkkinesis.suite.TimedSuite

/** Tests enhanced fan-out as the service documents it. */
abstract class FanOutSuite extends TimedSuite with OnBackend {
  override protected def timeLimit: FiniteDuration = 2.minutes
  private val LastKey = ((BigInt(1) << 128) - 1).toString
  private val names = new AtomicInteger

  private def consumerOf(stream: String): String =
    calls.registerConsumer(stream, s"consumer-${names.incrementAndGet()}")

  private def withRecords(shards: Int, texts: String*): (String, Vector[PutRecordResponse]) = {
    val stream = newStream(shards)
    (stream, texts.map(calls.putToShard(stream, "0", _)).toVector)
  }

  conforms("a registered consumer becomes ACTIVE and is described and listed") {
    val stream = newStream(1)
    val arn = consumerOf(stream)
    val streamArn = calls.summary(stream).streamARN
    assert(arn.startsWith(s"$streamArn/consumer/"), arn)
    val listed =
      Calls.await(calls.client.listStreamConsumers((r: ListStreamConsumersRequest.Builder) => r.streamARN(streamArn)))
    assert(listed.consumers.asScala.map(_.consumerARN).toVector == Vector(arn))
  }

  conforms("registering a name twice is ResourceInUse") {
    val stream = newStream(1)
    calls.registerConsumer(stream, "twice")
    intercept[ResourceInUseException](calls.registerConsumer(stream, "twice"))
  }

  conforms("a subscription begins with an initial-response") {
    val (stream, _) = withRecords(1)
    subscribe(consumerOf(stream), Subscription.at(ShardIteratorType.LATEST)).awaitInitialResponse()
  }

  conforms("a subscription at TRIM_HORIZON gets existing records and then new ones") {
    val (stream, _) = withRecords(1, "a", "b")
    val subscription = subscribe(consumerOf(stream), Subscription.at(ShardIteratorType.TRIM_HORIZON))
    assert(subscription.take(2) == Vector("a", "b"))
    calls.putToShard(stream, "0", "c")
    assert(subscription.take(1) == Vector("c"))
  }

  conforms("a subscription at LATEST gets only new records") {
    val (stream, _) = withRecords(1, "a")
    val subscription = subscribe(consumerOf(stream), Subscription.at(ShardIteratorType.LATEST))
    calls.putToShard(stream, "0", "b")
    assert(subscription.take(1) == Vector("b"))
  }

  conforms("AT and AFTER a sequence number include and exclude its record") {
    val (stream, put) = withRecords(1, "a", "b", "c")
    val second = put(1).sequenceNumber
    val at = StartingPosition.builder().`type`(ShardIteratorType.AT_SEQUENCE_NUMBER).sequenceNumber(second).build()
    assert(subscribe(consumerOf(stream), at).take(2) == Vector("b", "c"))
    assert(subscribe(consumerOf(stream), Subscription.after(second)).take(1) == Vector("c"))
  }

  conforms("a subscription AT_TIMESTAMP starts with the first record at or after the time") {
    val (stream, _) = withRecords(1, "a")
    val first =
      calls.records(calls.iterator(stream, "shardId-000000000000", ShardIteratorType.TRIM_HORIZON)).records.get(0)
    backend.passTime(1.second)
    calls.putToShard(stream, "0", "b")
    val after = StartingPosition
      .builder()
      .`type`(ShardIteratorType.AT_TIMESTAMP)
      .timestamp(first.approximateArrivalTimestamp.plusMillis(500))
      .build()
    assert(subscribe(consumerOf(stream), after).take(1) == Vector("b"))
  }

  conforms("the continuation of an event resumes directly after it") {
    val (stream, _) = withRecords(1, "a", "b")
    val consumer = consumerOf(stream)
    val first = subscribe(consumer, Subscription.at(ShardIteratorType.TRIM_HORIZON))
    val event = first.nextEvent()
    first.cancel()
    calls.putToShard(stream, "0", "c")
    val seen = event.records.asScala.map(_.data.asUtf8String).toVector
    backend.passTime(6.seconds)
    val rest = subscribe(consumer, Subscription.after(event.continuationSequenceNumber)).take(3 - seen.size)
    assert(seen ++ rest == Vector("a", "b", "c"))
  }

  conforms("a second subscription within five seconds is ResourceInUse") {
    val (stream, _) = withRecords(1)
    val consumer = consumerOf(stream)
    subscribe(consumer, Subscription.at(ShardIteratorType.LATEST))
    intercept[ResourceInUseException](subscribe(consumer, Subscription.at(ShardIteratorType.LATEST)))
  }

  conforms("a second subscription after five seconds takes over and ends the first one") {
    val (stream, _) = withRecords(1)
    val consumer = consumerOf(stream)
    val first = subscribe(consumer, Subscription.at(ShardIteratorType.LATEST))
    backend.passTime(6.seconds)
    val second = subscribe(consumer, Subscription.at(ShardIteratorType.LATEST))
    first.awaitEnd()
    calls.putToShard(stream, "0", "after")
    assert(second.take(1) == Vector("after"))
  }

  conforms("an idle subscription gets an empty event with a continuation within six seconds") {
    val (stream, _) = withRecords(1)
    val subscription = subscribe(consumerOf(stream), Subscription.at(ShardIteratorType.LATEST))
    backend.passTime(6.seconds)
    subscription.next() match {
      case Signal.Event(event) =>
        assert(event.records.isEmpty)
        assert(event.continuationSequenceNumber != null)
        assert(event.millisBehindLatest.longValue == 0L)
      case other => fail(s"expected an event, got $other")
    }
  }

  conforms("the last event of a closed shard names the children and has no continuation") {
    val (stream, _) = withRecords(1, "a", "b")
    calls.split(stream, calls.shards(stream).head)
    val subscription = subscribe(consumerOf(stream), Subscription.at(ShardIteratorType.TRIM_HORIZON))
    val events = Iterator.continually(subscription.nextEvent())
    var texts = Vector.empty[String]
    val last = events
      .tapEach(e => texts ++= e.records.asScala.map(_.data.asUtf8String))
      .find(e => e.hasChildShards && !e.childShards.isEmpty)
      .get
    assert(texts == Vector("a", "b"))
    assert(last.childShards.asScala.map(_.shardId).toSet == Set("shardId-000000000001", "shardId-000000000002"))
    assert(last.childShards.asScala.flatMap(_.parentShards.asScala).toSet == Set("shardId-000000000000"))
    assert(last.continuationSequenceNumber == null)
    assert(subscription.awaitEnd() == Signal.Completed)
  }

  conforms("a split ends a running subscription with the children") {
    val (stream, _) = withRecords(1, "a")
    val subscription = subscribe(consumerOf(stream), Subscription.at(ShardIteratorType.TRIM_HORIZON))
    assert(subscription.take(1) == Vector("a"))
    calls.split(stream, calls.shards(stream).head)
    assert(subscription.nextEvent().childShards.size == 2)
  }

  conforms("deregistering a consumer ends its subscriptions") {
    val (stream, _) = withRecords(1)
    val consumer = consumerOf(stream)
    val subscription = subscribe(consumer, Subscription.at(ShardIteratorType.LATEST))
    Calls.await(calls.client.deregisterStreamConsumer((r: DeregisterStreamConsumerRequest.Builder) =>
      r.consumerARN(consumer)
    ))
    subscription.awaitEnd()
  }

  conforms("a subscription without demand blocks neither its connection nor other streams") {
    val stream = newStream(2)
    val consumer = consumerOf(stream)
    val stalled = Subscription.open(
      calls.client,
      consumer,
      "shardId-000000000000",
      Subscription.at(ShardIteratorType.LATEST),
      initialDemand = 1
    )
    stalled.awaitOpen()
    val big = "x" * 200000
    (1 to 4).foreach(_ => calls.putToShard(stream, "0", big))
    val other = Subscription
      .open(calls.client, consumer, "shardId-000000000001", Subscription.at(ShardIteratorType.LATEST))
      .awaitOpen()
    calls.putToShard(stream, LastKey, "flows")
    assert(other.take(1) == Vector("flows"))
    stalled.request(100)
    assert(stalled.take(4).map(_.length) == Vector.fill(4)(200000))
    stalled.cancel()
    other.cancel()
  }

  private def subscribe(consumer: String, position: StartingPosition): Subscription =
    track(Subscription.open(calls.client, consumer, "shardId-000000000000", position)).awaitOpen()
}

class OwnFanOutSuite extends FanOutSuite with OnOwn
