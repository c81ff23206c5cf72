package org.sparkkinesis.emulator.action.consumer

import org.sparkkinesis.emulator.action.call.{Call, Patterns, Validator}
import org.sparkkinesis.emulator.document.ReplyWriter
import org.sparkkinesis.emulator.engine.consumer.RegisteredConsumer
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.stream.DataStream

/** Rules and answers that the operations on consumers share. */
private[action] object ConsumerRules {

  /** Finds the consumer that ConsumerARN, or StreamARN with ConsumerName, identifies. */
  def find(call: Call): (DataStream, RegisteredConsumer) = {
    val validator = new Validator(call.fields)
    val arn = validator.string("ConsumerARN", Patterns.ConsumerArn, Patterns.MaxArn, 1)
    val name = validator.string("ConsumerName", Patterns.StreamName, Patterns.MaxName, 1)
    val stream = call.streamRef(validator)
    val found = (arn, stream, name) match {
      case (Some(consumer), None, None) => call.namespace.consumerByArn(consumer)
      case (None, Some(ref), Some(consumer)) =>
        val state = call.namespace.stream(ref)
        (state, state.consumer(consumer).getOrElse(throw notFound(consumer, state)))
      case (Some(consumer), Some(ref), _) =>
        val (state, known) = call.namespace.consumerByArn(consumer)
        if (state.name != ref.name || name.exists(_ != known.name))
          throw ServiceError.invalidArgument("ConsumerARN does not belong to the given StreamARN and ConsumerName.")
        (state, known)
      case _ =>
        throw ServiceError.invalidArgument("Either ConsumerARN or both StreamARN and ConsumerName must be given.")
    }
    call.streamName = found._1.name
    found
  }

  private def notFound(name: String, stream: DataStream): ServiceError = ServiceError.resourceNotFound(
    s"Consumer $name in stream ${stream.name} under account ${stream.account} not found."
  )

  def write(reply: ReplyWriter, consumer: RegisteredConsumer): Unit = {
    reply.field("ConsumerName", consumer.name)
    reply.field("ConsumerARN", consumer.arn)
    reply.field("ConsumerStatus", consumer.status.name)
    reply.timestamp("ConsumerCreationTimestamp", consumer.createdMillis)
  }
}
