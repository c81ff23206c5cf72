package org.sparkkinesis.emulator.action.shard

import org.sparkkinesis.emulator.action.call.{Action, Answer, Call, IteratorToken, Patterns, StartPositions, Validator}
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.model.ShardId

/**
 * GetShardIterator returns an iterator that is valid for five minutes. The position of LATEST is determined by this
 * call.
 */
object GetShardIterator extends Action {
  val name = "GetShardIterator"

  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    val id = validator.requiredString("ShardId", Patterns.ShardId, Patterns.MaxName)
    val kind = validator.requiredOneOf("ShardIteratorType", StartPositions.Types: _*)
    val number = validator.string("StartingSequenceNumber", Patterns.SequenceNumber)
    id.foreach(call.shardName = _)
    val stream = call.stream(validator)
    stream.requireUsable()
    val shard = call.touch(stream.shard(ShardId(id.get)))
    if (shard.closing.exists(_.millis < stream.horizon(call.now)))
      throw ServiceError.resourceNotFound(
        s"Could not find shard ${shard.id} in stream ${stream.name} under account ${stream.account}."
      )
    val position = StartPositions.read(kind.get, number, call.fields.timestamp("Timestamp"), call.now)
    val after = StartPositions.resolve(stream, shard, position, name)
    val token = IteratorToken(stream.name, stream.createdMillis, shard.index, after, call.now).encode
    Answer.body(reply => reply.obj(reply.field("ShardIterator", token)))
  }
}
