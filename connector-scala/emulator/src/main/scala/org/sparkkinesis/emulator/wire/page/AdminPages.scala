package org.sparkkinesis.emulator.wire.page

import java.nio.charset.StandardCharsets.UTF_8

import io.netty.buffer.{ByteBufOutputStream, Unpooled}
import io.netty.handler.codec.http.HttpMethod

import org.sparkkinesis.emulator.admin.EmulatorAdmin
import org.sparkkinesis.emulator.count.CallCounters
import org.sparkkinesis.emulator.document.{Encoding, Fields, ReplyWriter}
import org.sparkkinesis.emulator.engine.Engine
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.wire.http.Exchange

/**
 * Serves the pages: the status page on `GET /`, and the pages below `/_emulator/`, which tests in other processes use
 * to control the emulator with JSON.
 *
 *   - `GET calls`, `DELETE calls`: returns or resets the counters
 *   - `GET clock`, `POST clock {"advanceMillis": n}`: returns or advances the clock
 *   - `POST faults {rule}`, `DELETE faults`: adds a fault, removes all (`{"seed": n}` also sets the seed)
 *   - `POST quotas {"on": true}` or `{"quota": name, "scale": n}`: switches or scales quotas
 *   - `POST streams {"name": …, "shards": n}`: creates a stream that is ACTIVE at once; `account` and `region` choose
 *     another place than the emulator's own
 *   - `POST metadata {"document": text, "token": text}`: sets the document of the page `/metadata/streams`
 *   - `POST policies {"owner": key or role, "policies": [text, …]}`: sets the IAM policies of an access key or a role
 *   - `POST delivery-streams {"name": …}`: creates a delivery stream that is ACTIVE at once
 */
final class AdminPages(engine: Engine, counters: CallCounters, admin: EmulatorAdmin, access: PageAccess) {
  import AdminPages._

  private val status = new StatusPage(engine, counters)

  def serves(exchange: Exchange): Boolean =
    exchange.path.startsWith(Prefix) || exchange.path == "/" && exchange.method == HttpMethod.GET

  def answer(exchange: Exchange): Unit =
    access.refusal(PageRequest.of(exchange)) match {
      case Some(PageRefusal(code, message)) => error(exchange, code, message)
      case None if exchange.path == "/" =>
        exchange.reply(200, "text/html; charset=utf-8", Unpooled.copiedBuffer(status.html(), UTF_8))
      case None =>
        try {
          val fields = Encoding.Json.parse(exchange.bodyArray, exchange.bodyOffset, exchange.bodyLength)
          json(exchange, 200)(run(s"${exchange.method} ${exchange.path.drop(Prefix.length)}", fields))
        } catch { case e @ (_: ServiceError | _: IllegalArgumentException) => error(exchange, 400, e.getMessage) }
    }

  private def error(exchange: Exchange, code: Int, message: String): Unit =
    json(exchange, code)(reply => reply.obj(reply.field("error", message)))

  private def run(request: String, fields: Fields): ReplyWriter => Unit = request match {
    case "GET calls" => writeCalls
    case "DELETE calls" => done(counters.reset())
    case "GET clock" => reply => reply.obj(reply.field("millis", engine.clock.millis))
    case "POST clock" =>
      done(admin.advanceClock(fields.long("advanceMillis").getOrElse(throw missing("advanceMillis"))))
    case "POST faults" =>
      val id = admin.addFault(fields)
      reply => reply.obj(reply.field("id", id.toLong))
    case "DELETE faults" =>
      done(fields.long("seed").fold(admin.faults.clear())(admin.faults.reset))
    case "POST quotas" =>
      done {
        fields.boolean("on").foreach(admin.setQuotas)
        fields.string("quota").foreach(admin.scaleQuota(_, scale(fields)))
      }
    case "POST streams" =>
      val name = fields.string("name").getOrElse(throw missing("name"))
      val place = admin.in(
        fields.string("account").getOrElse(admin.account),
        fields.string("region").getOrElse(admin.region)
      )
      val arn = place.createStream(name, fields.int("shards").getOrElse(1))
      reply => reply.obj(reply.field("arn", arn))
    case "POST metadata" =>
      val document = fields.string("document").getOrElse(throw missing("document"))
      val tag = admin.metadata.publish(document, fields.string("token"))
      reply => reply.obj(reply.field("etag", tag))
    case "POST policies" =>
      val owner = fields.string("owner").getOrElse(throw missing("owner"))
      val documents = fields.strings("policies").getOrElse(throw missing("policies"))
      done(admin.setPolicies(owner, documents: _*))
    case "POST delivery-streams" =>
      val arn = admin.createDeliveryStream(fields.string("name").getOrElse(throw missing("name")))
      reply => reply.obj(reply.field("arn", arn))
    case other => throw new IllegalArgumentException(s"The page $other does not exist below $Prefix.")
  }

  private def scale(fields: Fields): Double = fields.get("scale") match {
    case n: java.lang.Number => n.doubleValue
    case _ => throw missing("scale")
  }

  private def missing(member: String): IllegalArgumentException =
    new IllegalArgumentException(s"The member $member is missing or has a wrong type.")

  private def done(effect: => Unit): ReplyWriter => Unit = {
    effect
    (reply: ReplyWriter) => reply.obj(())
  }

  private def writeCalls(reply: ReplyWriter): Unit = reply.obj {
    reply.array("calls", counters.snapshot) { case (key, count) =>
      reply.obj {
        reply.field("operation", key.operation)
        reply.field("stream", key.stream)
        reply.field("shard", key.shard)
        reply.field("result", key.result)
        reply.field("account", key.account)
        reply.field("region", key.region)
        reply.field("count", count)
      }
    }
  }

  private def json(exchange: Exchange, status: Int)(write: ReplyWriter => Unit): Unit = {
    val buffer = exchange.ctx.alloc.buffer()
    Encoding.Json.write(new ByteBufOutputStream(buffer))(write)
    exchange.reply(status, "application/json", buffer)
  }
}

private object AdminPages {
  val Prefix = "/_emulator/"
}
