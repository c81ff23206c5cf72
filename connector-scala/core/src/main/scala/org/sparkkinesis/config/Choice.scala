package org.sparkkinesis.config

/** A value of an option that has a fixed set of them. */
trait Choice extends Serializable {

  /** As the user writes it; it is matched without regard to case. */
  def word: String
  override def toString: String = word
}

/** How records are fetched. */
sealed abstract class ConsumerMode(val word: String) extends Choice

object ConsumerMode {
  case object Polling extends ConsumerMode("polling")
  case object FanOut extends ConsumerMode("efo")
  val all: Seq[ConsumerMode] = Seq(Polling, FanOut)
}

/** When the enhanced fan-out consumer is registered. */
sealed abstract class Registration(val word: String) extends Choice

object Registration {

  /** When the query starts. */
  case object Lazy extends Registration("lazy")

  /** When the source is created. */
  case object Eager extends Registration("eager")

  /** Never: the user has registered it. */
  case object Never extends Registration("none")
  val all: Seq[Registration] = Seq(Lazy, Eager, Never)
}

/** Whether records of one partition key keep their order. */
sealed abstract class WriteOrdering(val word: String) extends Choice

object WriteOrdering {
  case object Unordered extends WriteOrdering("none")
  case object ByKey extends WriteOrdering("key")
  val all: Seq[WriteOrdering] = Seq(Unordered, ByKey)
}

/** What becomes of a row that cannot be a record. */
sealed abstract class OnInvalidRecord(val word: String) extends Choice

object OnInvalidRecord {

  /** The task fails. */
  case object Fail extends OnInvalidRecord("fail")

  /** The row goes to the dead-letter stream or table. */
  case object DeadLetter extends OnInvalidRecord("deadLetter")

  /** The row is left out and counted. */
  case object Drop extends OnInvalidRecord("drop")
  val all: Seq[OnInvalidRecord] = Seq(Fail, DeadLetter, Drop)
}

/** How the sink finds the rate that a stream takes. */
sealed abstract class RateLimitingOption(val word: String) extends Choice

object RateLimitingOption {
  case object Aimd extends RateLimitingOption("aimd")
  case object BatchAndDelay extends RateLimitingOption("batchAndDelay")
  case object Unlimited extends RateLimitingOption("none")

  /** A user's own strategy. */
  final case class OfClass(name: String) extends RateLimitingOption(name)

  val builtIn: Seq[RateLimitingOption] = Seq(Aimd, BatchAndDelay, Unlimited)

  val optionType: OptionType.Parsed[RateLimitingOption] = OptionType.Parsed[RateLimitingOption](
    builtIn.map(_.word).mkString("", ", ", ", or the name of a class"),
    _.word
  )(text => Right(builtIn.find(_.word.equalsIgnoreCase(text)).getOrElse(OfClass(text))))
}
