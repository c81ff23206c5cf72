package org.sparkkinesis.emulator.action.tag

import org.sparkkinesis.emulator.action.call.{Action, Answer, Call, Validator}
import org.sparkkinesis.model.KinesisQuotas.Count

/** AddTagsToStream adds or replaces tags. */
object AddTagsToStream extends Action {
  val name = "AddTagsToStream"

  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    validator.present("Tags")
    TagRules.validate(call.fields, validator)
    val stream = call.stream(validator)
    val tags = TagRules.read(call.fields)
    TagRules.check(tags.keys.toSeq, (stream.tags ++ tags).size)
    stream.updateTags(_ ++ tags)
    Answer.Empty
  }
}

/** RemoveTagsFromStream removes tags and ignores unknown keys. */
object RemoveTagsFromStream extends Action {
  val name = "RemoveTagsFromStream"

  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    TagRules.validateKeys(call.fields, validator)
    val stream = call.stream(validator)
    val keys = TagRules.readKeys(call.fields)
    stream.updateTags(_ -- keys)
    Answer.Empty
  }
}

/** ListTagsForStream lists tags by key, in pages. */
object ListTagsForStream extends Action {
  val name = "ListTagsForStream"

  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    val limit = validator.int("Limit", 1, Count.TagsPerResource)
    val after = validator.string("ExclusiveStartTagKey", maxLength = TagRules.MaxKey, minLength = 1)
    val stream = call.stream(validator)
    val rest = stream.tags.toSeq.sortBy(_._1).filter { case (key, _) => after.forall(key > _) }
    val shown = rest.take(limit.getOrElse(Count.TagsPerResource))
    Answer.body { reply =>
      reply.obj {
        TagRules.write(reply, shown)
        reply.field("HasMoreTags", rest.size > shown.size)
      }
    }
  }
}
