package org.sparkkinesis.emulator.action.consumer

import org.sparkkinesis.emulator.action.call.{Action, Answer, Call}

/** DescribeStreamConsumer describes a consumer, found by its ARN or by stream and name. */
object DescribeStreamConsumer extends Action {
  val name = "DescribeStreamConsumer"

  override def run(call: Call): Answer = {
    val (stream, consumer) = ConsumerRules.find(call)
    call.admit()
    Answer.body { reply =>
      reply.obj {
        reply.obj("ConsumerDescription") {
          ConsumerRules.write(reply, consumer)
          reply.field("StreamARN", stream.arn)
        }
      }
    }
  }
}
