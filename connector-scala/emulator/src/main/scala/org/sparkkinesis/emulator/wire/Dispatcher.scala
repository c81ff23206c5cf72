package org.sparkkinesis.emulator.wire

import scala.util.control.NonFatal

import io.netty.buffer.ByteBufOutputStream
import io.netty.channel.ChannelHandlerContext
import io.netty.handler.codec.http.HttpMethod
import io.netty.util.AttributeKey

import org.sparkkinesis.emulator.action.Actions
import org.sparkkinesis.emulator.action.call.{Action, Answer, Call}
import org.sparkkinesis.emulator.count.{CallCounters, CallKey}
import org.sparkkinesis.emulator.document.{Encoding, Fields, ReplyWriter}
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.{Engine, Namespace}
import org.sparkkinesis.emulator.fault.{FaultEffect, Faults}
import org.sparkkinesis.emulator.wire.auth.{AccessCheck, Gatekeeper, TokenService}
import org.sparkkinesis.emulator.wire.http.{Exchange, Log, RequestReceiver}
import org.sparkkinesis.emulator.wire.page.{AdminPages, MetadataPage}
import org.sparkkinesis.emulator.wire.push.EventPush

/** Passes requests to the actions and writes their answers. Runs on the network threads. */
final class Dispatcher(
    engine: Engine,
    gatekeeper: Gatekeeper,
    tokens: TokenService,
    faults: Faults,
    counters: CallCounters,
    pages: AdminPages,
    metadata: MetadataPage
) extends RequestReceiver {
  import Dispatcher._

  private val access = new AccessCheck(gatekeeper)

  override def received(exchange: Exchange): Unit =
    if (pages.serves(exchange)) pages.answer(exchange)
    else if (metadata.serves(exchange)) metadata.answer(exchange)
    else if (tokens.serves(exchange)) tokens.answer(exchange)
    else if (exchange.method == HttpMethod.POST) api(exchange)
    else answerError(
      exchange,
      Encoding.Json,
      new ServiceError(
        404,
        "UnknownOperationException",
        "Only POST requests to the API and requests for the pages are served."
      )
    )(())

  private def api(exchange: Exchange): Unit = {
    val encoding = Encoding.ofContentType(exchange.header("Content-Type"))
    val target = exchange.header("X-Amz-Target")
    Option(target).flatMap(Actions.byTarget.get) match {
      case Some(action) if encoding.isDefined =>
        new Request(exchange, encoding.get, action, target.takeWhile(_ != '_').toLowerCase).begin()
      case _ =>
        val error =
          ServiceError.unknownOperation(if (encoding.isEmpty) "Unknown content type." else "Unknown operation.")
        answerError(exchange, encoding.getOrElse(Encoding.Json), error)(())
    }
  }

  /** Handles one request of an operation of a service, from its first byte to its answer. */
  final private class Request(exchange: Exchange, encoding: Encoding, action: Action, service: String) {
    private var call: Call = _

    def begin(): Unit = guarded {
      val namespace = gatekeeper.admit(exchange)
      val fields = encoding.parse(exchange.bodyArray, exchange.bodyOffset, exchange.bodyLength)
      call = new Call(action.name, fields, namespace, faults)
      val target = RequestTarget.of(action.name, fields, namespace)
      try access.check(exchange, service, action.name, fields, namespace)
      catch {
        case refused: ServiceError =>
          call.isFor(target.account, target.region)
          call.streamName = target.stream
          call.shardName = target.shard
          throw refused
      }
      faults.of(target) match {
        case None => run(None)
        case Some(effect) =>
          call.isFor(target.account, target.region)
          hit(effect, fields, namespace)
      }
    }

    private def run(fault: Option[FaultEffect.OfSubscription]): Unit =
      answer(exchange, encoding, action.run(call), fault)(count(CallCounters.Ok))

    private def hit(effect: FaultEffect, fields: Fields, namespace: Namespace): Unit = effect match {
      case FaultEffect.Error(status, kind, message) => throw new ServiceError(status, kind, message)
      case FaultEffect.Delay(millis) =>
        later(millis) {
          call = new Call(action.name, fields, namespace, faults)
          run(None)
        }
      case FaultEffect.LateAnswer(millis) =>
        val done = action.run(call)
        later(millis) {
          answer(exchange, encoding, done, None)(count(CallCounters.Ok))
        }
      case FaultEffect.LostAnswer(error) =>
        action.run(call)
        throw new ServiceError(error.status, error.errorType, error.message)
      case FaultEffect.Silence => count("silence")
      case FaultEffect.Cut(done) =>
        if (done) action.run(call)
        count("cut")
        exchange.cut()
      case FaultEffect.ResetStream =>
        count("reset")
        exchange.resetStream()
      case FaultEffect.GoAway =>
        exchange.goAway()
        run(None)
      case ofSubscription: FaultEffect.OfSubscription => run(Some(ofSubscription))
      case _: FaultEffect.OfParts | _: FaultEffect.OfDocument => run(None)
    }

    private def later(millis: Long)(body: => Unit): Unit = {
      engine.timers.after(millis)(() => exchange.ctx.executor.execute(() => guarded(body)))
      ()
    }

    private def guarded(body: => Unit): Unit =
      try body
      catch {
        case e: ServiceError => failed(e)
        case NonFatal(e) =>
          Log.requestFailed(action.name, e)
          failed(ServiceError.internalFailure("The emulator failed. Its log shows the cause."))
      }

    private def failed(error: ServiceError): Unit = answerError(exchange, encoding, error)(count(error.errorType))

    /** Counts the call before the answer is sent, so that a client that has the answer finds its call counted. */
    private def count(result: String): Unit = {
      val key =
        if (call == null) CallKey(action.name, "", "", result)
        else CallKey(action.name, call.streamName, call.shardName, result, call.account, call.region)
      counters.add(key, engine.clock.millis, Option(exchange.header("User-Agent")).getOrElse(""))
    }
  }

  private def answer(
      exchange: Exchange,
      encoding: Encoding,
      answer: Answer,
      fault: Option[FaultEffect.OfSubscription]
  )(beforeReply: => Unit): Unit = answer match {
    case Answer.Empty =>
      beforeReply
      exchange.replyEmpty(200, encoding.contentType)
    case Answer.Body(write, sizeHint) => answerBody(exchange, encoding, 200, sizeHint)(write)(beforeReply)
    case Answer.Events(request) =>
      val push = new EventPush(request, exchange, engine, fault)
      request.consumer.claim(request.shard.id.value, push, engine.clock.millis, engine.policy)
      exchange.ctx.channel.attr(PushOfChannel).set(push)
      beforeReply
      exchange.replyStreaming("application/vnd.amazon.eventstream")
      push.start()
  }

  private def answerError(exchange: Exchange, encoding: Encoding, error: ServiceError)(beforeReply: => Unit): Unit = {
    // The service writes this member with another case.
    val member = if (error.errorType == "SerializationException") "Message" else "message"
    answerBody(exchange, encoding, error.status, 0) { reply =>
      reply.obj {
        reply.field("__type", error.errorType)
        reply.field(member, error.getMessage)
      }
    }(beforeReply)
  }

  private def answerBody(
      exchange: Exchange,
      encoding: Encoding,
      status: Int,
      sizeHint: Int
  )(write: ReplyWriter => Unit)(beforeReply: => Unit): Unit = {
    val buffer = exchange.ctx.alloc.buffer(math.max(MinReplyBytes, sizeHint))
    var written = false
    try {
      encoding.write(new ByteBufOutputStream(buffer))(write)
      written = true
    } finally if (!written) buffer.release()
    beforeReply
    exchange.reply(status, encoding.contentType, buffer)
  }

  override def refused(exchange: Exchange, status: Int, errorType: String, message: String): Unit =
    answerError(
      exchange,
      Encoding.ofContentType(exchange.header("Content-Type")).getOrElse(Encoding.Json),
      new ServiceError(status, errorType, message)
    )(())

  override def writabilityChanged(ctx: ChannelHandlerContext): Unit = {
    val push = ctx.channel.attr(PushOfChannel).get
    if (push != null && ctx.channel.isWritable) push.wake()
  }

  override def closed(ctx: ChannelHandlerContext): Unit = {
    val push = ctx.channel.attr(PushOfChannel).getAndSet(null)
    if (push != null) push.abandon()
  }
}

private object Dispatcher {
  val MinReplyBytes = 512
  val PushOfChannel: AttributeKey[EventPush] = AttributeKey.valueOf("kinesis-emulator-push")
}
