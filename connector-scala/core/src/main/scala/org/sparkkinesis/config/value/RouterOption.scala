package org.sparkkinesis.config.value

/** The router that distributes the records of a logical stream over its physical streams. */
sealed abstract class RouterOption(val word: String) extends Choice

object RouterOption {

  /** One request after another goes to the streams in turn, by their weights. */
  case object RoundRobin extends RouterOption("roundRobin")

  /** All records of a partition key go to one stream, which is chosen by the weights. */
  case object Hash extends RouterOption("hash")

  /** All records go to the streams with the highest priority. */
  case object Priority extends RouterOption("priority")

  /** A class of the user. */
  final case class OfClass(name: String) extends RouterOption(s"class:$name")

  val builtIn: Seq[RouterOption] = Seq(RoundRobin, Hash, Priority)

  private val ClassName = "class:([\\w.$]+)".r

  val optionType: OptionType.Parsed[RouterOption] = OptionType.Parsed[RouterOption](
    builtIn.map(_.word).mkString("", ", ", ", or class: and the name of a class"),
    _.word
  ) {
    case ClassName(name) => Right(OfClass(name))
    case text => builtIn.find(_.word.equalsIgnoreCase(text.trim)).toRight("It is none of the accepted values.")
  }
}
