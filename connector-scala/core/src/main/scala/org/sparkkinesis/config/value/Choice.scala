package org.sparkkinesis.config.value

/** A value of an option with a fixed set of values. */
trait Choice extends Serializable {

  /** The text of the value in options. Matching ignores case. */
  def word: String
  override def toString: String = word
}

/** Mode in which records are fetched. */
sealed abstract class ConsumerMode(val word: String) extends Choice

object ConsumerMode {
  case object Polling extends ConsumerMode("polling")
  case object FanOut extends ConsumerMode("efo")
  val all: Seq[ConsumerMode] = Seq(Polling, FanOut)
}

/** What sends the calls that carry records. */
sealed abstract class Transport(val word: String) extends Choice

object Transport {

  /** The connector's own requests. */
  case object Native extends Transport("native")

  /** The clients of the AWS SDK. */
  case object Sdk extends Transport("sdk")
  val all: Seq[Transport] = Seq(Native, Sdk)
}

/** Whether the query registers its enhanced fan-out consumers. */
sealed abstract class Registration(val word: String) extends Choice

object Registration {

  /** The consumer is registered when the query starts. */
  case object Lazy extends Registration("lazy")

  /** The connector never registers a consumer; the user has registered it. */
  case object Never extends Registration("none")
  val all: Seq[Registration] = Seq(Lazy, Never)
}

/** Whether records with the same partition key keep their order. */
sealed abstract class WriteOrdering(val word: String) extends Choice

object WriteOrdering {
  case object Unordered extends WriteOrdering("none")

  /** A record that is refused may be stored after later records of its key. */
  case object BestEffort extends WriteOrdering("bestEffort")
  case object ByKey extends WriteOrdering("key")
  val all: Seq[WriteOrdering] = Seq(Unordered, BestEffort, ByKey)
}

/** Treatment of a row that cannot become a record. */
sealed abstract class OnInvalidRecord(val word: String) extends Choice

object OnInvalidRecord {

  /** The task fails. */
  case object Fail extends OnInvalidRecord("fail")

  /** The row is written to the dead-letter stream or table. */
  case object DeadLetter extends OnInvalidRecord("deadLetter")

  /** The row is dropped and counted. */
  case object Drop extends OnInvalidRecord("drop")
  val all: Seq[OnInvalidRecord] = Seq(Fail, DeadLetter, Drop)
}

/** Strategy by which the sink adapts its rate to what the stream accepts. */
sealed abstract class RateLimitingOption(val word: String) extends Choice

object RateLimitingOption {
  case object Aimd extends RateLimitingOption("aimd")
  case object BatchAndDelay extends RateLimitingOption("batchAndDelay")
  case object Unlimited extends RateLimitingOption("none")

  /** A strategy class of the user. */
  final case class OfClass(name: String) extends RateLimitingOption(name)

  val builtIn: Seq[RateLimitingOption] = Seq(Aimd, BatchAndDelay, Unlimited)

  val optionType: OptionType.Parsed[RateLimitingOption] = OptionType.Parsed[RateLimitingOption](
    builtIn.map(_.word).mkString("", ", ", ", or the name of a class"),
    _.word
  )(text => Right(builtIn.find(_.word.equalsIgnoreCase(text)).getOrElse(OfClass(text))))
}
