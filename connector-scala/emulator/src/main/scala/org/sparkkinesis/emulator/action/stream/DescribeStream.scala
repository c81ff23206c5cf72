package org.sparkkinesis.emulator.action.stream

import org.sparkkinesis.emulator.action.call.{Action, Answer, Call, Patterns, Validator}
import org.sparkkinesis.emulator.engine.shard.ShardSet
import org.sparkkinesis.model.{KinesisQuotas, ShardId}

/** DescribeStream returns the settings and one page of at most 100 shards. */
object DescribeStream extends Action {
  val name = "DescribeStream"

  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    val limit = validator.int("Limit", 1, KinesisQuotas.Request.ListShardsMaxResults)
    val after = validator.string("ExclusiveStartShardId", Patterns.ShardId, Patterns.MaxName, 1)
    val stream = call.stream(validator)
    val page = math.min(limit.getOrElse(Int.MaxValue), KinesisQuotas.Request.DescribeStreamShards)
    val shards = stream.shards
    val from = after.flatMap(id => ShardSet.indexOf(ShardId(id))).fold(0)(index => shards.positionFrom(index + 1))
    val shown = shards.all.slice(from, from + page)
    Answer.body { reply =>
      reply.obj {
        reply.obj("StreamDescription") {
          StreamRules.writeBasics(reply, stream)
          reply.array("Shards", shown)(StreamRules.writeShard(reply))
          reply.field("HasMoreShards", from + shown.size < shards.all.size)
        }
      }
    }
  }
}
