package org.sparkkinesis.emulator.action.consumer

import org.sparkkinesis.emulator.action.call.{
  Action, Answer, Call, Patterns, StartPositions, SubscribeRequest, Validator
}
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.model.{ConsumerStatus, ShardId}

/**
 * SubscribeToShard checks the request and determines the start position, also for LATEST. The wire then claims the
 * shard and pushes events.
 */
object SubscribeToShard extends Action {
  val name = "SubscribeToShard"

  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    val arn = validator.requiredString("ConsumerARN", Patterns.ConsumerArn, Patterns.MaxArn)
    val id = validator.requiredString("ShardId", Patterns.ShardId, Patterns.MaxName)
    validator.present("StartingPosition")
    validator.streamId()
    validator.check()
    call.shardName = id.get
    val start = call.fields.structure("StartingPosition").get
    val positionValidator = new Validator(start)
    val kind = positionValidator.requiredOneOf("Type", StartPositions.Types: _*)
    val number = positionValidator.string("SequenceNumber", Patterns.SequenceNumber)
    positionValidator.check()
    val (stream, consumer) = call.namespace.consumerByArn(arn.get)
    call.streamName = stream.name
    stream.requireUsable()
    if (consumer.status != ConsumerStatus.Active)
      throw ServiceError.resourceInUse(
        s"Consumer ${consumer.arn} is not ACTIVE, instead in state ${consumer.status.name}."
      )
    val shard = call.touch(stream.shard(ShardId(id.get)))
    val position = StartPositions.read(kind.get, number, start.timestamp("Timestamp"), call.now)
    val after = StartPositions.resolve(stream, shard, position, name)
    Answer.Events(SubscribeRequest(stream, consumer, shard, after))
  }
}
