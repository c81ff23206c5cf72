package org.sparkkinesis.emulator.action.tag

import org.sparkkinesis.emulator.action.call.Validator
import org.sparkkinesis.emulator.document.{Fields, ReplyWriter}
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.model.KinesisQuotas.Count

/** Reads, checks and writes tags. */
private[action] object TagRules {
  val MaxKey = 128
  private val MaxValue = 256
  private val MaxTagsOfCall = 200

  /** Reads the Tags member, a map of strings. */
  def read(fields: Fields): Map[String, String] = fields.structure("Tags").fold(Map.empty[String, String]) { tags =>
    tags.entries.map {
      case (key, value: String) => key -> value
      case (key, _) => throw ServiceError.serialization(s"The value of tag $key can not be converted to String")
    }.toMap
  }

  /**
   * Checks the Tags member against the constraints of the API model; [[check]] checks the number of tags of a
   * resource.
   */
  def validate(fields: Fields, validator: Validator): Unit = if (fields.has("Tags")) {
    val tags = read(fields)
    validator.size("Tags", tags.size, 1, MaxTagsOfCall)
    validator.lengths("Tags", "Map keys", tags.keys, 1, MaxKey)
    validator.lengths("Tags", "Map values", tags.values, 0, MaxValue)
  }

  /** Reads the TagKeys member. */
  def readKeys(fields: Fields): Vector[String] = fields.strings("TagKeys").getOrElse(Vector.empty)

  def validateKeys(fields: Fields, validator: Validator): Unit = {
    validator.present("TagKeys")
    if (fields.has("TagKeys")) {
      val keys = readKeys(fields)
      validator.size("TagKeys", keys.size, 1, Count.TagsPerResource)
      validator.lengths("TagKeys", "Member", keys, 1, MaxKey)
    }
  }

  /**
   * Checks the keys, and the number of tags that a resource would have.
   *
   * @param total
   *   the number of tags that the resource would have
   */
  def check(keys: Seq[String], total: Int): Unit = {
    keys.foreach { key =>
      if (key.startsWith("aws:"))
        throw ServiceError.invalidArgument(s"Tag keys starting with aws: are reserved: '$key'")
    }
    if (total > Count.TagsPerResource)
      throw ServiceError.invalidArgument(
        s"Failed to add tags because a resource may have at most ${Count.TagsPerResource} tags."
      )
  }

  def write(reply: ReplyWriter, tags: Seq[(String, String)]): Unit = reply.array("Tags", tags) { case (key, value) =>
    reply.obj {
      reply.field("Key", key)
      reply.field("Value", value)
    }
  }
}
