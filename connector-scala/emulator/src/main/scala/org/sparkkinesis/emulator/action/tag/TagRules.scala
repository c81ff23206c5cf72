package org.sparkkinesis.emulator.action.tag

import org.sparkkinesis.emulator.action.{Fields, ReplyWriter}
import org.sparkkinesis.emulator.engine.ServiceError
import org.sparkkinesis.model.KinesisQuotas.Count

/** Rules and shapes of tags. */
private[action] object TagRules {
  val MaxKey = 128
  private val MaxValue = 256

  /** The Tags member, a map of strings. */
  def read(fields: Fields): Map[String, String] = fields.structure("Tags").fold(Map.empty[String, String]) { tags =>
    tags.entries.map {
      case (key, value: String) => key -> value
      case (key, _) => throw ServiceError.serialization(s"The value of tag $key can not be converted to String")
    }.toMap
  }

  /**
   * @param total
   *   how many tags the resource would have
   */
  def check(keys: Seq[String], total: Int): Unit = {
    keys.foreach { key =>
      if (key.isEmpty || key.length > MaxKey)
        throw ServiceError.invalidArgument(s"Tag keys have 1 to $MaxKey characters: '$key'")
      if (key.startsWith("aws:"))
        throw ServiceError.invalidArgument(s"Tag keys starting with aws: are reserved: '$key'")
    }
    if (total > Count.TagsPerResource)
      throw ServiceError.invalidArgument(
        s"Failed to add tags because a resource may have at most ${Count.TagsPerResource} tags."
      )
  }

  def checkValues(values: Iterable[String]): Unit = values.foreach { value =>
    if (value.length > MaxValue) throw ServiceError.invalidArgument(s"Tag values have at most $MaxValue characters.")
  }

  def write(reply: ReplyWriter, tags: Seq[(String, String)]): Unit = reply.array("Tags", tags) { case (key, value) =>
    reply.obj {
      reply.field("Key", key)
      reply.field("Value", value)
    }
  }
}
