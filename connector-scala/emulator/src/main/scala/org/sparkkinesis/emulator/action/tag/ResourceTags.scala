package org.sparkkinesis.emulator.action.tag

import org.sparkkinesis.emulator.action.call.{Action, Answer, Call, Patterns, Validator}
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.model.StreamRef

/**
 * TagResource, UntagResource and ListTagsForResource change and list the tags of a stream or a consumer, by its ARN.
 */
sealed abstract class ResourceTags extends Action {
  protected def validateMore(call: Call, validator: Validator): Unit = ()
  protected def onTags(call: Call, tags: Tagged): Answer

  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    val arn = validator.requiredString("ResourceARN", Patterns.ResourceArn, Patterns.MaxArn)
    validator.streamId()
    validateMore(call, validator)
    validator.check()
    val tagged =
      if (arn.get.contains("/consumer/")) {
        val (stream, consumer) = call.namespace.consumerByArn(arn.get)
        call.streamName = stream.name
        new Tagged(() => consumer.tags, change => consumer.synchronized { consumer.tags = change(consumer.tags) })
      } else {
        val ref =
          StreamRef.parse(arn.get).getOrElse(throw ServiceError.invalidArgument(s"${arn.get} is not a stream ARN."))
        val stream = call.namespace.stream(ref)
        call.streamName = stream.name
        new Tagged(() => stream.tags, stream.updateTags)
      }
    call.admit()
    onTags(call, tagged)
  }
}

/** The tags of one stream or consumer. */
final private[tag] class Tagged(
    read: () => Map[String, String],
    change: (Map[String, String] => Map[String, String]) => Unit
) {
  def tags: Map[String, String] = read()
  def update(by: Map[String, String] => Map[String, String]): Unit = change(by)
}

object TagResource extends ResourceTags {
  val name = "TagResource"

  override protected def validateMore(call: Call, validator: Validator): Unit = {
    validator.present("Tags")
    TagRules.validate(call.fields, validator)
  }

  override protected def onTags(call: Call, tagged: Tagged): Answer = {
    val tags = TagRules.read(call.fields)
    TagRules.check(tags.keys.toSeq, (tagged.tags ++ tags).size)
    tagged.update(_ ++ tags)
    Answer.Empty
  }
}

object UntagResource extends ResourceTags {
  val name = "UntagResource"

  override protected def validateMore(call: Call, validator: Validator): Unit =
    TagRules.validateKeys(call.fields, validator)

  override protected def onTags(call: Call, tagged: Tagged): Answer = {
    val keys = TagRules.readKeys(call.fields)
    tagged.update(_ -- keys)
    Answer.Empty
  }
}

object ListTagsForResource extends ResourceTags {
  val name = "ListTagsForResource"

  override protected def onTags(call: Call, tagged: Tagged): Answer =
    Answer.body(reply => reply.obj(TagRules.write(reply, tagged.tags.toSeq.sortBy(_._1))))
}
