package org.sparkkinesis.aws.subscription

import java.util.concurrent.CompletableFuture
import java.util.concurrent.atomic.AtomicBoolean

import org.reactivestreams.{Subscriber, Subscription}
import software.amazon.awssdk.core.async.SdkPublisher
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient
import software.amazon.awssdk.services.kinesis.model.{
  SubscribeToShardEvent => SdkEvent, SubscribeToShardEventStream, SubscribeToShardRequest, SubscribeToShardResponse,
  SubscribeToShardResponseHandler
}

import org.sparkkinesis.aws.error.ErrorClassification
import org.sparkkinesis.service.{Operation, ShardSubscriber, ShardSubscription, SubscribeToShardEvent}

/**
 * Sends SubscribeToShard calls with the SDK's client.
 *
 * @param client
 *   uses HTTP/2, has no time limit for calls and does not retry; this instance owns it
 * @param convert
 *   converts an event of the SDK
 */
final private[aws] class SdkSubscriptions(client: KinesisAsyncClient, convert: SdkEvent => SubscribeToShardEvent)
    extends AutoCloseable {

  /** Sends the request, and calls the subscriber as [[SubscriptionTransport]] does. */
  def subscribe(request: SubscribeToShardRequest, subscriber: ShardSubscriber): ShardSubscription = {
    val call = new Call(subscriber)
    call.follow(client.subscribeToShard(request, call))
    call
  }

  override def close(): Unit = client.close()

  /** The first reported end counts. After it, or after `cancel`, the subscriber receives no callback. */
  final private class Call(subscriber: ShardSubscriber)
      extends ShardSubscription
      with SubscribeToShardResponseHandler
      with Subscriber[SubscribeToShardEventStream] {
    private val isOver = new AtomicBoolean
    @volatile private var running: CompletableFuture[Void] = null

    // Guarded by this.
    private var upstream: Subscription = null
    private var demand = 0L

    def follow(call: CompletableFuture[Void]): Unit = {
      running = call
      if (isOver.get) call.cancel(true)
      call.whenComplete((_, error) => if (error != null) ended(error) else complete())
      ()
    }

    override def request(n: Long): Unit = {
      val ready = synchronized {
        if (upstream == null) demand += n
        upstream
      }
      if (ready != null) ready.request(n)
    }

    override def cancel(): Unit = {
      isOver.set(true)
      stop()
    }

    private def stop(): Unit = {
      val events = synchronized(upstream)
      if (events != null) events.cancel()
      Option(running).foreach(_.cancel(true))
    }

    override def responseReceived(response: SubscribeToShardResponse): Unit =
      if (!isOver.get) subscriber.onSubscribed()

    override def onEventStream(events: SdkPublisher[SubscribeToShardEventStream]): Unit = events.subscribe(this)

    override def onSubscribe(events: Subscription): Unit = {
      val wanted = synchronized {
        upstream = events
        demand
      }
      if (isOver.get) events.cancel() else if (wanted > 0) events.request(wanted)
    }

    override def onNext(event: SubscribeToShardEventStream): Unit = if (!isOver.get) event match {
      case records: SdkEvent => subscriber.onEvent(convert(records))
      // An event of a kind that the connector does not know is not what was requested.
      case _ => request(1)
    }

    override def onError(error: Throwable): Unit = ended(error)
    override def exceptionOccurred(error: Throwable): Unit = ended(error)
    override def onComplete(): Unit = complete()

    // Called by the SDK after the events, too.
    override def complete(): Unit = if (isOver.compareAndSet(false, true)) subscriber.onComplete()

    private def ended(error: Throwable): Unit = if (isOver.compareAndSet(false, true))
      subscriber.onError(ErrorClassification.classify(Operation.SubscribeToShard, error))
  }
}
