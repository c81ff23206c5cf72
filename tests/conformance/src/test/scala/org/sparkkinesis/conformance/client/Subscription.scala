package org.sparkkinesis.conformance.client

import java.util.concurrent.{CompletableFuture, LinkedBlockingQueue, TimeUnit}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.reactivestreams.{Subscriber, Subscription => Demand}
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient
import software.amazon.awssdk.services.kinesis.model._

import org.sparkkinesis.concurrent.Futures

/** One SubscribeToShard whose events are taken one at a time. */
final class Subscription private (client: KinesisAsyncClient, request: SubscribeToShardRequest, initialDemand: Long) {
  import Subscription._

  private val signals = new LinkedBlockingQueue[Signal]
  private val opened = new CompletableFuture[Unit]
  private val responded = new CompletableFuture[Unit]
  @volatile private var demand: Demand = _

  private val handler = SubscribeToShardResponseHandler
    .builder()
    .onResponse { (_: SubscribeToShardResponse) =>
      responded.complete(())
      ()
    }
    .onError { (error: Throwable) =>
      opened.completeExceptionally(error)
      signals.add(Signal.Failed(error))
      ()
    }
    .subscriber(() => new Events)
    .build()

  private val done: CompletableFuture[Void] = client.subscribeToShard(request, handler)

  final private class Events extends Subscriber[SubscribeToShardEventStream] {
    override def onSubscribe(s: Demand): Unit = {
      demand = s
      opened.complete(())
      s.request(initialDemand)
    }
    override def onNext(event: SubscribeToShardEventStream): Unit = event match {
      case e: SubscribeToShardEvent =>
        signals.add(Signal.Event(e))
        ()
      case _ => ()
    }
    override def onError(t: Throwable): Unit = ()
    override def onComplete(): Unit = {
      signals.add(Signal.Completed)
      ()
    }
  }

  /** Waits until the subscription is open; throws the error of a refused subscription. */
  def awaitOpen(): this.type =
    try {
      opened.get(20, TimeUnit.SECONDS)
      this
    } catch { case e: java.util.concurrent.ExecutionException => throw Futures.unwrap(e) }

  /** Waits for the initial-response message. */
  def awaitInitialResponse(): Unit = responded.get(15, TimeUnit.SECONDS)

  def request(n: Long): Unit = demand.request(n)

  def cancel(): Unit = {
    if (demand != null) demand.cancel()
    done.cancel(true)
    ()
  }

  def next(within: FiniteDuration = 20.seconds): Signal = {
    val signal = signals.poll(within.toMillis, TimeUnit.MILLISECONDS)
    assert(signal != null, s"no signal within $within")
    signal
  }

  /** Returns the next signal if there is one, without waiting. */
  def poll(): Option[Signal] = Option(signals.poll())

  /** Waits for the next event with records or the end of the shard, and skips empty events. */
  def nextEvent(within: FiniteDuration = 15.seconds): SubscribeToShardEvent = {
    val deadline = System.nanoTime() + within.toNanos
    def isIdle(e: SubscribeToShardEvent): Boolean = e.records.isEmpty && e.childShards.isEmpty
    Iterator
      .continually(next((deadline - System.nanoTime()).nanos.max(Duration.Zero)))
      .map {
        case Signal.Event(e) => e
        case other => throw new AssertionError(s"expected an event, got $other")
      }
      .find(!isIdle(_))
      .get
  }

  /** Waits for `n` records and returns their payloads as text. */
  def take(n: Int): Vector[String] = {
    var found = Vector.empty[String]
    while (found.size < n) found ++= nextEvent().records.asScala.map(_.data.asUtf8String)
    found
  }

  /** Waits for the end of the subscription and returns its signal. */
  def awaitEnd(within: FiniteDuration = 15.seconds): Signal = {
    val deadline = System.nanoTime() + within.toNanos
    Iterator
      .continually(next((deadline - System.nanoTime()).nanos.max(Duration.Zero)))
      .find(!_.isInstanceOf[Signal.Event])
      .get
  }
}

object Subscription {
  sealed trait Signal
  object Signal {
    final case class Event(event: SubscribeToShardEvent) extends Signal
    final case class Failed(error: Throwable) extends Signal
    case object Completed extends Signal
  }

  def open(
      client: KinesisAsyncClient,
      consumerArn: String,
      shard: String,
      position: StartingPosition,
      initialDemand: Long = Long.MaxValue
  ): Subscription = {
    val request =
      SubscribeToShardRequest.builder().consumerARN(consumerArn).shardId(shard).startingPosition(position).build()
    new Subscription(client, request, initialDemand)
  }

  def at(kind: ShardIteratorType): StartingPosition = StartingPosition.builder().`type`(kind).build()
  def after(number: String): StartingPosition =
    StartingPosition.builder().`type`(ShardIteratorType.AFTER_SEQUENCE_NUMBER).sequenceNumber(number).build()
}
