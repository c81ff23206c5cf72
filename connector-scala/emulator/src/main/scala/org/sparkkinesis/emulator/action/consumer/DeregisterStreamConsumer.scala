package org.sparkkinesis.emulator.action.consumer

import org.sparkkinesis.emulator.action.call.{Action, Answer, Call}
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.model.ConsumerStatus

/**
 * DeregisterStreamConsumer ends the subscriptions of a consumer at once and removes it after the configured delay.
 */
object DeregisterStreamConsumer extends Action {
  val name = "DeregisterStreamConsumer"

  override def run(call: Call): Answer = {
    val (stream, consumer) = ConsumerRules.find(call)
    call.admit()
    consumer.status = ConsumerStatus.Deleting
    consumer.endAll(ServiceError.resourceNotFound(s"Consumer ${consumer.arn} has been deregistered."))
    call.engine.timers.afterOrNow(call.engine.delays.consumer)(() => stream.removeConsumer(consumer))
    Answer.Empty
  }
}
