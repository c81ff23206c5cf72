package org.sparkkinesis.emulator.wire.page

import java.nio.charset.StandardCharsets.UTF_8

import scala.jdk.CollectionConverters._
import scala.util.{Failure, Success, Try}

import io.netty.buffer.Unpooled
import io.netty.handler.codec.http.{HttpMethod, QueryStringDecoder}

import org.sparkkinesis.emulator.admin.PublishedMetadata
import org.sparkkinesis.emulator.count.{CallCounters, CallKey}
import org.sparkkinesis.emulator.engine.Engine
import org.sparkkinesis.emulator.fault.{FaultEffect, FaultTarget, Faults}
import org.sparkkinesis.emulator.wire.http.Exchange

/**
 * Serves `GET /metadata/streams?id=a&id=b` or `?pattern=`, as a service for the metadata of streams does: the document
 * that the control has set, with its ETag; 304 if the request has the same tag; 404 if the document has none of the
 * streams. Requests are counted as calls of GetMetadata, and faults of this operation apply.
 */
final class MetadataPage(engine: Engine, metadata: PublishedMetadata, faults: Faults, counters: CallCounters) {
  import MetadataPage._

  def serves(exchange: Exchange): Boolean = exchange.path == Path && exchange.method == HttpMethod.GET

  def answer(exchange: Exchange): Unit =
    if (!metadata.admits(Option(exchange.header("Authorization"))))
      reply(exchange, 401, "", "AccessDenied")
    else
      faults.ofMetadataPage() match {
        case None => document(exchange, metadata.document)
        case Some(effect) => hit(exchange, effect)
      }

  private def hit(exchange: Exchange, effect: FaultEffect): Unit = effect match {
    case FaultEffect.Error(status, kind, message) => reply(exchange, status, message, kind)
    case FaultEffect.LostAnswer(FaultEffect.Error(status, kind, message)) => reply(exchange, status, message, kind)
    case FaultEffect.Delay(millis) => later(exchange, millis)
    case FaultEffect.LateAnswer(millis) => later(exchange, millis)
    case FaultEffect.Silence => count("silence")
    case _: FaultEffect.Cut =>
      count("cut")
      exchange.cut()
    case FaultEffect.ResetStream =>
      count("reset")
      exchange.resetStream()
    case FaultEffect.EmptyDocument => reply(exchange, 200, "", "emptyDocument")
    case FaultEffect.OlderDocument => document(exchange, metadata.previous)
    case FaultEffect.TruncatedDocument =>
      val whole = metadata.document
      reply(exchange, 200, whole.take(whole.length / 2), "truncatedDocument")
    case FaultEffect.Redirect(location) => reply(exchange, 302, "", "redirect", "Location" -> location)
    case FaultEffect.GoAway =>
      exchange.goAway()
      document(exchange, metadata.document)
    case _: FaultEffect.OfParts | _: FaultEffect.OfSubscription => document(exchange, metadata.document)
  }

  private def later(exchange: Exchange, millis: Long): Unit = {
    engine.timers.after(millis)(() => exchange.ctx.executor.execute(() => document(exchange, metadata.document)))
    ()
  }

  private def document(exchange: Exchange, whole: String): Unit =
    Try(new QueryStringDecoder(exchange.head.uri).parameters.asScala) match {
      case Failure(malformed) => reply(exchange, 400, malformed.getMessage, "BadRequest")
      case Success(asked) =>
        def values(name: String): Seq[String] = asked.get(name).fold(Seq.empty[String])(_.asScala.toSeq)
        PublishedMetadata.select(whole, values("id").toSet, values("pattern").headOption) match {
          case None => reply(exchange, 404, "", "NotFound")
          case Some(text) =>
            val tag = PublishedMetadata.tagOf(text)
            if (exchange.header("If-None-Match") == tag) reply(exchange, 304, "", "unchanged", "ETag" -> tag)
            else reply(exchange, 200, text, CallCounters.Ok, "ETag" -> tag)
        }
    }

  private def reply(exchange: Exchange, status: Int, text: String, result: String, headers: (String, String)*): Unit = {
    count(result)
    exchange.reply(status, "application/json", Unpooled.copiedBuffer(text, UTF_8), headers: _*)
  }

  private def count(result: String): Unit =
    counters.add(CallKey(FaultTarget.MetadataPage, "", "", result), engine.clock.millis)
}

object MetadataPage {
  val Path = "/metadata/streams"
}
