package org.sparkkinesis.aws.subscription

import java.io.ByteArrayOutputStream
import java.util.concurrent.atomic.AtomicLong

import scala.util.control.NonFatal

import io.netty.buffer.ByteBuf

import org.sparkkinesis.aws.error.{ErrorClassification, ForeignAnswerException, ForeignAnswers}
import org.sparkkinesis.aws.request.ErrorAnswer
import org.sparkkinesis.aws.transport.{AnswerHead, Http2Call, StreamReader}
import org.sparkkinesis.service.{Operation, ServiceException, ShardSubscriber, ShardSubscription, SubscribeToShardEvent}

/**
 * One SubscribeToShard call. It decodes the answer on the connection's thread and calls the [[ShardSubscriber]] there,
 * within demand. While the subscriber requests no events, the call gives no credit, so that the service stops sending
 * after one window of bytes. The first reported end of the call counts. After it, or after `cancel`, the subscriber
 * receives no callback.
 *
 * @param answered
 *   receives the head of the answer
 */
final private[aws] class SubscriptionCall(
    subscriber: ShardSubscriber,
    buffers: MessageBuffers,
    answered: AnswerHead => Unit = _ => ()
) extends ShardSubscription
    with StreamReader {
  private val allowed = new AtomicLong
  @volatile private var isOver = false
  @volatile private var stream: Http2Call = null

  // Only the connection's thread uses these.
  private val decoder = new EventStreamDecoder(buffers)
  private val errorBody = new ByteArrayOutputStream
  private var head: AnswerHead = null
  private var foreign = Option.empty[ForeignAnswerException]
  private var isSubscribed = false

  /** An event that arrived instead of the initial response, which some emulators do not send, before it was wanted. */
  private var early: SubscribeToShardEvent = null
  private var hasEnded = false
  private var failure: Throwable = null

  override def request(n: Long): Unit = if (allowed.getAndAdd(n) <= 0) {
    val sent = stream
    // Before the call is sent, nothing has arrived.
    if (sent != null) sent.execute(() => proceed())
  }

  override def cancel(): Unit = {
    isOver = true
    Option(stream).foreach(_.cancel())
  }

  /** Connects this call with the one that was sent. */
  def follow(call: Http2Call): Unit = {
    stream = call
    if (isOver) call.cancel() else call.execute(() => proceed())
  }

  /** Ends a call that was not sent. */
  def fail(error: Throwable): Unit = end(error)

  override def begin(answer: AnswerHead): Unit = {
    head = answer
    foreign = ForeignAnswers.in(answer.status, answer.header)
    answered(answer)
  }

  override def content(bytes: ByteBuf): Unit = {
    if (isRefused) bytes.readBytes(errorBody, bytes.readableBytes) else decoder.feed(bytes)
    proceed()
  }

  override def end(error: Throwable): Unit = {
    hasEnded = true
    failure = error
    proceed()
  }

  /** Reports what has arrived, as far as the subscriber wants it. */
  private def proceed(): Unit =
    try {
      while (isWanted && dispatch()) ()
      if (!isOver)
        if (isWanted && !hasEnded) Option(stream).foreach(_.credit())
        else if (hasEnded && (isWanted || decoder.isEmpty && early == null)) finish()
    } catch {
      case error: Throwable =>
        over(_.onError(ErrorClassification.classify(Operation.SubscribeToShard, error)))
        // The subscriber must learn of an error of the JVM, too, which is lost in the event loop.
        if (!NonFatal(error)) throw error
    }

  private def isWanted: Boolean = !isOver && (allowed.get > 0 || !isSubscribed)

  /** Reports the next message, of which the decoder keeps the bytes until then. Returns false if there is none. */
  private def dispatch(): Boolean = if (early != null) {
    val event = early
    early = null
    report(event)
  } else {
    val message = decoder.next()
    if (message != null) message.headers.getOrElse(":message-type", "") match {
      case "event" if message.headers.get(":event-type").contains("SubscribeToShardEvent") =>
        val event = SubscriptionJson.event(message.bytes, message.payloadStart, message.payloadLength)
        subscribed()
        if (isWanted) report(event): Unit else early = event
      case "event" => if (message.headers.get(":event-type").contains("initial-response")) subscribed()
      case _ =>
        val headers = message.headers
        val (_, text) = ErrorAnswer.read(message.bytes, message.payloadStart, message.payloadLength)
        val code = headers.get(":exception-type").orElse(headers.get(":error-code")).getOrElse("UnknownError")
        over(_.onError(error(code, text.orElse(headers.get(":error-message")).getOrElse("no message"))))
    }
    message != null
  }

  private def report(event: SubscribeToShardEvent): Boolean = {
    allowed.decrementAndGet()
    subscriber.onEvent(event)
    true
  }

  private def subscribed(): Unit = if (!isSubscribed) {
    isSubscribed = true
    subscriber.onSubscribed()
  }

  private def finish(): Unit =
    if (failure != null || foreign.isDefined) {
      val cause = if (failure != null) failure else foreign.get
      over(_.onError(ErrorClassification.classify(Operation.SubscribeToShard, cause)))
    } else if (isRefused)
      over(_.onError(
        ErrorAnswer.of(Operation.SubscribeToShard, head.status, head.header, errorBody.toByteArray)
      ))
    else over(_.onComplete())

  private def over(callback: ShardSubscriber => Unit): Unit = if (!isOver) {
    isOver = true
    if (!hasEnded) Option(stream).foreach(_.cancel())
    callback(subscriber)
  }

  private def error(code: String, text: String): ServiceException = new ServiceException(
    ErrorClassification.ofCode(code, 0),
    Operation.SubscribeToShard,
    code,
    text,
    head.header("x-amzn-RequestId")
  )

  private def isRefused: Boolean = !head.isSuccessful || foreign.isDefined
}
