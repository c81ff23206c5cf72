package org.sparkkinesis.aws.subscription

import java.io.{ByteArrayOutputStream, IOException}
import java.nio.ByteBuffer
import java.util.concurrent.atomic.{AtomicInteger, AtomicLong}
import java.util.concurrent.{CompletableFuture, ConcurrentLinkedQueue}

import scala.util.control.NonFatal

import org.reactivestreams.{Publisher, Subscriber, Subscription}
import software.amazon.awssdk.http.SdkHttpResponse
import software.amazon.awssdk.http.async.SdkAsyncHttpResponseHandler

import org.sparkkinesis.aws.error.{ErrorClassification, ForeignAnswerException, ForeignAnswers}
import org.sparkkinesis.aws.request.ErrorAnswer
import org.sparkkinesis.service.{Operation, ServiceException, ShardSubscriber, ShardSubscription}

/**
 * One SubscribeToShard call. It translates the HTTP client's callbacks to those of [[ShardSubscriber]], one at a time
 * and within demand. It requests bytes only while the subscriber has requested events, so that a slow reader applies
 * back-pressure to the service. The first reported end of the call counts. After it, or after `cancel`, the subscriber
 * receives no callback.
 */
final private[aws] class SubscriptionCall(subscriber: ShardSubscriber, buffers: MessageBuffers)
    extends ShardSubscription
    with SdkAsyncHttpResponseHandler {
  private val allowed = new AtomicLong
  private val arrived = new ConcurrentLinkedQueue[ByteBuffer]
  private val decoder = new EventStreamDecoder(buffers)

  /** Body of an error response. */
  private val errorBody = new ByteArrayOutputStream
  private val rounds = new AtomicInteger
  @volatile private var response: SdkHttpResponse = null
  @volatile private var foreign = Option.empty[ForeignAnswerException]
  @volatile private var upstream: Subscription = null
  @volatile private var isAwaitingBytes = false
  @volatile private var hasEnded = false
  @volatile private var failure: Throwable = null
  @volatile private var isOver = false
  @volatile private var exchange: CompletableFuture[Void] = null

  // Only accessed within a round of [[proceed]].
  private var isSubscribed = false
  private var message: EventStreamMessage = null

  override def request(n: Long): Unit = {
    allowed.addAndGet(n)
    proceed()
  }

  override def cancel(): Unit = {
    isOver = true
    val bytes = upstream
    // A call without a response has no body to cancel, so the exchange is cancelled.
    if (bytes != null) bytes.cancel() else Option(exchange).foreach(_.cancel(true))
  }

  /** Connects this call with the HTTP client's exchange. */
  def follow(call: CompletableFuture[Void]): Unit = {
    exchange = call
    if (isOver) call.cancel(true)
    // After a successful exchange, the body may still deliver bytes and then reports its end itself.
    call.whenComplete((_, error) => if (error != null || upstream == null) ended(error))
    ()
  }

  def fail(error: Throwable): Unit = ended(error)

  override def onHeaders(headers: SdkHttpResponse): Unit = {
    foreign = ForeignAnswers.in(headers)
    response = headers
  }
  override def onError(error: Throwable): Unit = ended(error)

  override def onStream(body: Publisher[ByteBuffer]): Unit = body.subscribe(new Subscriber[ByteBuffer] {
    override def onSubscribe(subscription: Subscription): Unit = {
      upstream = subscription
      if (isOver) subscription.cancel() else proceed()
    }
    override def onNext(bytes: ByteBuffer): Unit = {
      arrived.add(bytes)
      isAwaitingBytes = false
      proceed()
    }
    override def onError(error: Throwable): Unit = ended(error)
    override def onComplete(): Unit = ended(null)
  })

  private def ended(error: Throwable): Unit = {
    if (!hasEnded && error != null) failure = error
    hasEnded = true
    proceed()
  }

  /**
   * Runs rounds until nothing is left to do. Only one thread at a time runs rounds; a thread that arrives meanwhile
   * adds one.
   */
  private def proceed(): Unit = if (rounds.getAndIncrement() == 0) {
    var pending = 1
    while (pending > 0) {
      try while (!isOver && step()) ()
      catch {
        case error: Throwable =>
          end(_.onError(ErrorClassification.classify(Operation.SubscribeToShard, error)))
          // The subscriber must learn of an error of the JVM, too, which is lost in the callback of the HTTP client.
          if (!NonFatal(error)) throw error
      }
      pending = rounds.addAndGet(-pending)
    }
  }

  /** Performs one step. Returns false if nothing is left to do until bytes arrive or events are requested. */
  private def step(): Boolean =
    if (message != null || { message = decoder.next(); message != null }) dispatch()
    else {
      val bytes = arrived.poll()
      if (bytes != null) {
        if (isRefused) errorBody.writeBytes(toArray(bytes)) else decoder.feed(bytes)
        true
      } else if (hasEnded) {
        finish()
        false
      } else {
        val wantsBytes = allowed.get > 0 || !isSubscribed
        val asks = wantsBytes && !isAwaitingBytes && upstream != null
        if (asks) {
          isAwaitingBytes = true
          upstream.request(1)
        }
        asks
      }
    }

  private def dispatch(): Boolean = {
    val headers = message.headers
    headers.getOrElse(":message-type", "") match {
      case "event" if headers.get(":event-type").contains("SubscribeToShardEvent") =>
        if (allowed.get <= 0) false
        else {
          val event = SubscriptionJson.event(message.bytes, message.payloadStart, message.payloadLength)
          message = null
          allowed.decrementAndGet()
          subscriber.onEvent(event)
          true
        }
      case "event" =>
        if (headers.get(":event-type").contains("initial-response")) subscribed()
        message = null
        true
      case _ =>
        val (_, text) = ErrorAnswer.read(message.bytes, message.payloadStart, message.payloadLength)
        val code = headers.get(":exception-type").orElse(headers.get(":error-code")).getOrElse("UnknownError")
        end(_.onError(error(code, text.orElse(headers.get(":error-message")).getOrElse("no message"))))
        false
    }
  }

  private def subscribed(): Unit = if (!isSubscribed) {
    isSubscribed = true
    subscriber.onSubscribed()
  }

  private def finish(): Unit =
    if (failure != null) end(_.onError(ErrorClassification.classify(Operation.SubscribeToShard, failure)))
    else if (foreign.isDefined)
      end(_.onError(ErrorClassification.classify(Operation.SubscribeToShard, foreign.get)))
    else if (isRefused) {
      end(_.onError(ErrorAnswer.of(Operation.SubscribeToShard, response, errorBody.toByteArray)))
    } else if (response == null) end(_.onError(ErrorClassification.classify(
      Operation.SubscribeToShard,
      new IOException("The call ended without a response")
    )))
    else end(_.onComplete())

  private def end(callback: ShardSubscriber => Unit): Unit = if (!isOver) {
    isOver = true
    val bytes = upstream
    if (bytes != null && !hasEnded) bytes.cancel()
    callback(subscriber)
  }

  private def error(code: String, text: String): ServiceException = new ServiceException(
    ErrorClassification.ofCode(code, 0),
    Operation.SubscribeToShard,
    code,
    text,
    ErrorAnswer.header(response, "x-amzn-RequestId")
  )

  private def isRefused: Boolean = response != null && (!response.isSuccessful || foreign.isDefined)

  private def toArray(bytes: ByteBuffer): Array[Byte] = {
    val array = new Array[Byte](bytes.remaining)
    bytes.get(array)
    array
  }
}
