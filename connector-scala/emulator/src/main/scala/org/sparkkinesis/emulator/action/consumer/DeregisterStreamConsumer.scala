package org.sparkkinesis.emulator.action.consumer

import org.sparkkinesis.emulator.action.{Action, Answer, Call}
import org.sparkkinesis.emulator.engine.ServiceError
import org.sparkkinesis.emulator.engine.consumer.ConsumerStatus

/** DeregisterStreamConsumer: its subscriptions end at once, and it is gone after the configured delay. */
object DeregisterStreamConsumer extends Action {
  val name = "DeregisterStreamConsumer"

  override def run(call: Call): Answer = {
    val (stream, consumer) = ConsumerRules.find(call)
    call.admit()
    consumer.status = ConsumerStatus.Deleting
    consumer.endAll(ServiceError.resourceNotFound(s"Consumer ${consumer.arn} has been deregistered."))
    call.engine.later(call.engine.delays.consumer)(() => stream.removeConsumer(consumer))
    Answer.Empty
  }
}
