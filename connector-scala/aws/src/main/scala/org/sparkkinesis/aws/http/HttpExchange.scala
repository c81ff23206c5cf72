package org.sparkkinesis.aws.http

import java.nio.ByteBuffer
import java.util.concurrent.{CancellationException, CompletableFuture, TimeUnit}

import scala.concurrent.duration._

import org.reactivestreams.{Publisher, Subscriber, Subscription}
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration
import software.amazon.awssdk.core.interceptor.SdkInternalExecutionAttribute
import software.amazon.awssdk.http.async.{AsyncExecuteRequest, SdkAsyncHttpClient, SdkAsyncHttpResponseHandler}
import software.amazon.awssdk.http.{SdkHttpExecutionAttribute, SdkHttpExecutionAttributes, SdkHttpResponse}

import org.sparkkinesis.concurrent.AbortableFuture

/**
 * The HTTP exchange of one call. It shows when the call can no longer have an effect: the SDK completes the future of
 * a cancelled or timed-out call before it closes the connection, and until then the service may still receive the
 * request. Thread-safe.
 */
final private[aws] class HttpExchange {
  private var running: CompletableFuture[Void] = null
  private var isEnded = false
  private var isAnswered = false
  private val closed = new CompletableFuture[Unit]

  /** The attributes that connect a request of the HTTP client with this exchange. */
  def attributes: SdkHttpExecutionAttributes =
    SdkHttpExecutionAttributes.builder().put(HttpExchange.Attribute, this).build()

  /** Adds what connects the SDK's request with this exchange. */
  def observe(settings: AwsRequestOverrideConfiguration.Builder): AwsRequestOverrideConfiguration.Builder =
    settings.putExecutionAttribute(SdkInternalExecutionAttribute.SDK_HTTP_EXECUTION_ATTRIBUTES, attributes)

  /**
   * Closes the connection if the response is not complete, and prevents an exchange that has not begun. The future
   * completes when the service can receive nothing more of the exchange.
   */
  def end(): CompletableFuture[Unit] = {
    val begun = synchronized {
      isEnded = true
      if (isAnswered) null else running
    }
    if (begun == null) CompletableFuture.completedFuture(())
    else {
      begun.cancel(true)
      closed.copy().completeOnTimeout((), HttpExchange.LongestClose.toMillis, TimeUnit.MILLISECONDS)
    }
  }

  /** Starts the exchange unless it was ended before. */
  private[aws] def begin(execute: () => CompletableFuture[Void]): Option[CompletableFuture[Void]] = synchronized {
    if (!isEnded) running = execute()
    Option(running)
  }

  /**
   * Returns the future that the SDK receives for a begun exchange. The SDK ends it with the failure of an error answer,
   * or of one that it cannot decode. The connection must not end with it, because the answer is complete: the HTTP
   * client closes a connection so late that the next call may have taken it.
   */
  private[http] def forSdk(begun: CompletableFuture[Void]): CompletableFuture[Void] = {
    val result = new CompletableFuture[Void]
    begun.whenComplete { (_, error) =>
      if (error == null) result.complete(null) else result.completeExceptionally(error)
      ()
    }
    result.whenComplete { (_, error) =>
      if (error != null && !synchronized(isAnswered)) begun.completeExceptionally(error)
      ()
    }
    result
  }

  /** Called when the whole response has arrived, before the SDK receives its end. */
  private[aws] def answered(): Unit = synchronized { isAnswered = true }

  /** Called by the HTTP client's thread, which closes the connection next. */
  private[aws] def closes(): Unit = {
    closed.completeAsync(() => (), HttpExchange.afterClose)
    ()
  }
}

private[aws] object HttpExchange {
  val Attribute: SdkHttpExecutionAttribute[HttpExchange] =
    new SdkHttpExecutionAttribute[HttpExchange](classOf[HttpExchange]) {}

  private val CloseTime = 50.millis
  private val afterClose = CompletableFuture.delayedExecutor(CloseTime.toMillis, TimeUnit.MILLISECONDS)

  /**
   * Makes a call with the SDK's client. Its `cancel` requests the end, and the future completes when the service can
   * receive nothing more of the call.
   */
  def abortable[R](send: HttpExchange => CompletableFuture[R]): AbortableFuture[R] = {
    val exchange = new HttpExchange
    val made = send(exchange)
    val result = new AbortableFuture[R](() => { made.cancel(true); () })
    made.whenComplete { (answer, error) =>
      if (error == null) result.complete(answer)
      else exchange.end().whenComplete { (_, _) => result.completeExceptionally(error); () }
      ()
    }
    result
  }

  /**
   * Maximum time to wait for the close. The client does not report an exchange that is cancelled while it waits for a
   * connection.
   */
  private val LongestClose = 2.seconds
}

/**
 * Reports start and end of each request to its [[HttpExchange]]. When it is closed, it refuses requests, for which the
 * SDK's Netty client would open connections that nobody closes.
 */
final private[aws] class ObservedHttpClient(client: SdkAsyncHttpClient) extends SdkAsyncHttpClient {
  @volatile private var isClosed = false

  override def clientName(): String = client.clientName()

  override def close(): Unit = {
    isClosed = true
    client.close()
  }

  override def execute(request: AsyncExecuteRequest): CompletableFuture[Void] =
    if (isClosed) refuse(request, new IllegalStateException("the client is closed"))
    else {
      val exchange = exchangeOf(request)
      exchange.begin(() => client.execute(observed(request, exchange))) match {
        case Some(running) =>
          running.whenComplete((_, error) => if (error == null) exchange.closes())
          exchange.forSdk(running)
        case None => refuse(request, new CancellationException("the call was cancelled before its request was sent"))
      }
    }

  private def exchangeOf(request: AsyncExecuteRequest): HttpExchange =
    Option(request.httpExecutionAttributes()).flatMap(all => Option(all.getAttribute(HttpExchange.Attribute)))
      .getOrElse(new HttpExchange)

  private def refuse(request: AsyncExecuteRequest, reason: Exception): CompletableFuture[Void] = {
    request.responseHandler().onError(reason)
    CompletableFuture.failedFuture(reason)
  }

  private def observed(request: AsyncExecuteRequest, exchange: HttpExchange): AsyncExecuteRequest = {
    val builder = AsyncExecuteRequest.builder()
    request.metricCollector().ifPresent { collector => builder.metricCollector(collector); () }
    builder
      .request(request.request())
      .requestContentPublisher(request.requestContentPublisher())
      .fullDuplex(request.fullDuplex())
      .responseHandler(new Observer(request.responseHandler(), exchange))
      .build()
  }

  final private class Observer(handler: SdkAsyncHttpResponseHandler, exchange: HttpExchange)
      extends SdkAsyncHttpResponseHandler {
    override def onHeaders(headers: SdkHttpResponse): Unit = handler.onHeaders(headers)
    override def onStream(stream: Publisher[ByteBuffer]): Unit =
      handler.onStream(subscriber => stream.subscribe(new Content(subscriber, exchange)))
    override def onError(error: Throwable): Unit =
      try handler.onError(error)
      finally exchange.closes()
  }

  final private class Content(subscriber: Subscriber[_ >: ByteBuffer], exchange: HttpExchange)
      extends Subscriber[ByteBuffer] {
    override def onSubscribe(subscription: Subscription): Unit = subscriber.onSubscribe(subscription)
    override def onNext(bytes: ByteBuffer): Unit = subscriber.onNext(bytes)
    override def onError(error: Throwable): Unit = subscriber.onError(error)
    override def onComplete(): Unit = {
      exchange.answered()
      subscriber.onComplete()
    }
  }
}
