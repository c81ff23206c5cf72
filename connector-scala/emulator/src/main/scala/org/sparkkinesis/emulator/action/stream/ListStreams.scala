package org.sparkkinesis.emulator.action.stream

import org.sparkkinesis.emulator.action.call.{Action, Answer, Call, PageTokens, Patterns, Validator}
import org.sparkkinesis.emulator.engine.stream.DataStream
import org.sparkkinesis.model.KinesisQuotas

/** ListStreams lists names in order, at most 100 on a page. The next page starts after a name or at a token. */
object ListStreams extends Action {
  val name = "ListStreams"

  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    val limit = validator.int("Limit", 1, KinesisQuotas.Request.ListShardsMaxResults)
    val after = validator.string("ExclusiveStartStreamName", Patterns.StreamName, Patterns.MaxName, 1)
    val token = validator.string("NextToken", maxLength = PageTokens.MaxLength, minLength = 1)
    validator.check()
    call.admit()
    val start = token.map(PageTokens.read(call, _).head).orElse(after)
    val page = math.min(limit.getOrElse(Int.MaxValue), KinesisQuotas.Request.ListStreamsPage)
    val found = call.namespace.streamsAfter(start).take(page + 1).toVector
    val shown = found.take(page)
    Answer.body { reply =>
      reply.obj {
        reply.strings("StreamNames", shown.map(_.name))
        reply.field("HasMoreStreams", found.size > page)
        if (found.size > page) reply.field("NextToken", PageTokens.make(call, shown.last.name))
        reply.array("StreamSummaries", shown) { (stream: DataStream) =>
          reply.obj {
            reply.field("StreamName", stream.name)
            reply.field("StreamARN", stream.arn)
            reply.field("StreamStatus", stream.status.name)
            reply.obj("StreamModeDetails")(reply.field("StreamMode", stream.settings.modeName))
            reply.timestamp("StreamCreationTimestamp", stream.createdMillis)
          }
        }
      }
    }
  }
}
