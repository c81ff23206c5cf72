package org.sparkkinesis.emulator.action.consumer

import org.sparkkinesis.emulator.action.call.{Action, Answer, Call, Patterns, Validator}
import org.sparkkinesis.emulator.action.tag.TagRules
import org.sparkkinesis.emulator.engine.consumer.RegisteredConsumer
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.quota.Quota
import org.sparkkinesis.emulator.engine.stream.DataStream
import org.sparkkinesis.model.ConsumerStatus
import org.sparkkinesis.model.KinesisQuotas.Count

/** RegisterStreamConsumer creates a consumer, which is CREATING for the configured delay and then ACTIVE. */
object RegisterStreamConsumer extends Action {
  val name = "RegisterStreamConsumer"

  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    validator.present("StreamARN")
    val consumerName = validator.requiredString("ConsumerName", Patterns.StreamName, Patterns.MaxName)
    TagRules.validate(call.fields, validator)
    val stream = call.stream(validator)
    stream.requireActive()
    val tags = TagRules.read(call.fields)
    TagRules.check(tags.keys.toSeq, tags.size)
    val consumer = register(call, stream, consumerName.get)
    consumer.tags = tags
    call.engine.timers.afterOrNow(call.engine.delays.consumer) { () =>
      if (consumer.status == ConsumerStatus.Creating) consumer.status = ConsumerStatus.Active
    }
    Answer.body(reply => reply.obj(reply.obj("Consumer")(ConsumerRules.write(reply, consumer))))
  }

  private def register(call: Call, stream: DataStream, name: String): RegisteredConsumer = stream.synchronized {
    if (stream.consumer(name).isDefined)
      throw ServiceError.resourceInUse(
        s"Consumer $name already exists for stream ${stream.name} under account ${stream.account}."
      )
    val policy = call.engine.policy
    val perStream =
      if (call.namespace.hasCommitment) Count.ConsumersPerStreamAdvantage else Count.ConsumersPerStream
    policy.limit(Quota.Consumers, perStream).foreach { limit =>
      if (stream.consumers.size >= limit)
        throw ServiceError.limitExceeded(
          s"Stream ${stream.name} under account ${stream.account} already has the maximum of ${limit.toInt} " +
            "registered consumers."
        )
    }
    policy.limit(Quota.Consumers, Count.ConsumersCreatingAtOnce).foreach { limit =>
      if (stream.consumers.count(_.status == ConsumerStatus.Creating) >= limit)
        throw ServiceError.limitExceeded(
          s"At most ${limit.toInt} consumers of stream ${stream.name} may be in the CREATING state at once."
        )
    }
    val arn = s"${stream.arn}/consumer/$name:${call.now / 1000}"
    val consumer = new RegisteredConsumer(name, arn, call.now, s"${stream.account}:${stream.name}")
    stream.addConsumer(consumer)
    consumer
  }
}
