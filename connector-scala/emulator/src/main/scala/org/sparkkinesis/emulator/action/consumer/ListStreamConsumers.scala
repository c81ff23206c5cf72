package org.sparkkinesis.emulator.action.consumer

import org.sparkkinesis.emulator.action.call.{Action, Answer, Call, PageTokens, Validator}
import org.sparkkinesis.emulator.engine.consumer.RegisteredConsumer
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.model.KinesisQuotas

/** ListStreamConsumers lists consumers by name, at most 100 on a page. */
object ListStreamConsumers extends Action {
  val name = "ListStreamConsumers"

  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    validator.present("StreamARN")
    val max = validator.int("MaxResults", 1, KinesisQuotas.Request.ListShardsMaxResults)
    val token = validator.string("NextToken", maxLength = PageTokens.MaxLength, minLength = 1)
    val stream = call.stream(validator)
    val after = token.map(PageTokens.read(call, _)).map {
      case Seq(arn, name) if arn == stream.arn => name
      case _ => throw ServiceError.invalidArgument("NextToken is not of this stream.")
    }
    val page = math.min(max.getOrElse(Int.MaxValue), KinesisQuotas.Request.ListStreamConsumersPage)
    val rest = stream.consumers.sortBy(_.name).filter(c => after.forall(c.name > _))
    val shown = rest.take(page)
    Answer.body { reply =>
      reply.obj {
        reply.array("Consumers", shown)((consumer: RegisteredConsumer) =>
          reply.obj(ConsumerRules.write(reply, consumer))
        )
        if (rest.size > page) reply.field("NextToken", PageTokens.make(call, stream.arn, shown.last.name))
      }
    }
  }
}
