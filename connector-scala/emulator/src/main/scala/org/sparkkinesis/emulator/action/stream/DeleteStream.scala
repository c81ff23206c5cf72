package org.sparkkinesis.emulator.action.stream

import org.sparkkinesis.emulator.action.call.{Action, Answer, Call, Validator}
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.model.StreamStatus

/**
 * DeleteStream removes a stream with its records; the stream is DELETING for the configured delay. The call fails if
 * consumers are registered, unless EnforceConsumerDeletion is set.
 */
object DeleteStream extends Action {
  val name = "DeleteStream"

  override def run(call: Call): Answer = {
    val stream = call.stream(new Validator(call.fields))
    val enforced = call.fields.boolean("EnforceConsumerDeletion").contains(true)
    val consumers = stream.consumers
    if (consumers.nonEmpty && !enforced)
      throw ServiceError.resourceInUse(
        s"Stream ${stream.name} under account ${stream.account} has ${consumers.size} registered consumers. " +
          "Deregister them first, or set EnforceConsumerDeletion."
      )
    stream.status = StreamStatus.Deleting
    consumers.foreach { consumer =>
      stream.removeConsumer(consumer)
      consumer.endAll(
        ServiceError.resourceNotFound(s"Stream ${stream.name} under account ${stream.account} not found.")
      )
    }
    val namespace = call.engine.namespace(stream.account, stream.region)
    call.engine.timers.afterOrNow(call.engine.delays.delete)(() => namespace.remove(stream))
    Answer.Empty
  }
}
