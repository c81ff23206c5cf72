package org.sparkkinesis.config

import org.sparkkinesis.config.value.ConsumerMode

/** Side of a query on which an option has an effect. */
sealed abstract class Side(val word: String)
object Side {
  case object Read extends Side("read")
  case object Write extends Side("write")
  val all: Seq[Side] = Seq(Read, Write)
}

/** Type of a query, as its trigger selects it. Only Spark's plan knows the type. */
sealed abstract class QueryType(val title: String)
object QueryType {
  case object Batch extends QueryType("a batch query")
  case object ProcessingTime extends QueryType("a streaming query with a processing-time trigger")
  case object AvailableNow extends QueryType("a streaming query with Trigger.AvailableNow")
  case object Once extends QueryType("a streaming query with Trigger.Once")
  case object RealTime extends QueryType("a streaming query in real-time mode")
  val all: Seq[QueryType] = Seq(Batch, ProcessingTime, AvailableNow, Once, RealTime)

  /** Every type of streaming query. */
  val streaming: Set[QueryType] = all.toSet - Batch

  /** Streaming queries whose batches have an end when they begin. */
  val microBatch: Set[QueryType] = streaming - RealTime
}

/** How the options or the rows select the streams of a query. */
sealed abstract class StreamSelection(val title: String)
object StreamSelection {
  case object One extends StreamSelection("one stream")
  case object Several extends StreamSelection("a list of streams")
  case object Pattern extends StreamSelection("a pattern")
  case object Logical extends StreamSelection("a logical stream")

  /** A column of the rows names the streams of a write. */
  case object ByRow extends StreamSelection("streams that the rows name")
  val all: Seq[StreamSelection] = Seq(One, Several, Pattern, Logical, ByRow)
  val ofReads: Seq[StreamSelection] = Seq(One, Several, Pattern, Logical)
  val ofWrites: Seq[StreamSelection] = Seq(One, Logical, ByRow)
}

/**
 * A setting of another option.
 *
 * @param values
 *   values of that option, which may be its default; empty if any value that the user sets is enough
 * @param not
 *   values of that option that are not enough
 */
final case class Need(key: String, values: Seq[String] = Nil, not: Seq[String] = Nil, title: String = "") {

  /** The setting for the reference and for messages, without marks. */
  def text: String =
    if (title.nonEmpty) title else if (values.isEmpty) key else values.map(value => s"$key=$value").mkString(" or ")
}

/**
 * Declares where an option has an effect. The reference shows it, and [[EffectCheck]] reports an option that is set
 * elsewhere.
 *
 * @param needs
 *   settings of which the option needs at least one; empty if it needs none
 * @param isMistakeWithout
 *   whether the option is an error without them, because the user certainly meant something else
 */
final case class Effect(
    sides: Set[Side] = Side.all.toSet,
    queries: Set[QueryType] = QueryType.all.toSet,
    modes: Set[ConsumerMode] = ConsumerMode.all.toSet,
    streams: Set[StreamSelection] = StreamSelection.all.toSet,
    needs: Seq[Need] = Nil,
    isMistakeWithout: Boolean = false
) {
  def streaming: Effect = copy(queries = QueryType.streaming)
  def microBatch: Effect = copy(queries = QueryType.microBatch)
  def of(types: QueryType*): Effect = copy(queries = types.toSet)
  def fanOut: Effect = copy(queries = QueryType.streaming, modes = Set(ConsumerMode.FanOut))
  def streams(selections: StreamSelection*): Effect = copy(streams = selections.toSet)
  def withAny(settings: Need*): Effect = copy(needs = settings)
}

object Effect {
  val Everywhere: Effect = Effect()
  val OfReads: Effect = Effect(sides = Set(Side.Read))
  val OfWrites: Effect = Effect(sides = Set(Side.Write))

  def of(scope: Scope): Effect = scope match {
    case Scope.Connection => Everywhere
    case Scope.Read => OfReads
    case Scope.Write => OfWrites
  }
}
