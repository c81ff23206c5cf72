package org.sparkkinesis.plan.prune

import java.time.Instant

import org.sparkkinesis.model.hash.{HashKey, HashKeyRange}
import org.sparkkinesis.model.{SequenceNumber, Shard}

/**
 * What a query requires of the rows that it reads, as far as that can reduce what is read. Every row that the query
 * wants meets the condition; others may meet it too, because Spark still filters.
 */
sealed trait RowCondition {

  /**
   * Returns bounds that contain each record of the shard which may meet the condition; `None` if none can.
   *
   * @param stream
   *   name of the stream
   */
  def of(stream: String, shard: Shard): Option[ReadBounds]

  /** The condition in the form of a WHERE clause, for plans. */
  def text: String
}

object RowCondition {

  /** Every row may meet it: a condition that reduces nothing, or that is not understood. */
  case object Always extends RowCondition {
    override def of(stream: String, shard: Shard): Option[ReadBounds] = Some(ReadBounds.Whole)
    override def text: String = "true"
  }

  /** No row meets it. */
  case object Never extends RowCondition {
    override def of(stream: String, shard: Shard): Option[ReadBounds] = None
    override def text: String = "false"
  }

  /** The row arrived between two times, both inclusive, in epoch milliseconds. */
  final case class Arrived(fromMillis: Long, toMillis: Long) extends RowCondition {
    override def of(stream: String, shard: Shard): Option[ReadBounds] =
      Option.when(fromMillis <= toMillis)(ReadBounds(fromMillis, toMillis))

    override def text: String = {
      val from = Option.when(fromMillis != Long.MinValue)(s"$Arrival >= ${Instant.ofEpochMilli(fromMillis)}")
      val to = Option.when(toMillis != Long.MaxValue)(s"$Arrival <= ${Instant.ofEpochMilli(toMillis)}")
      (from ++ to).mkString(" AND ")
    }
  }

  /** The name of the stream is one of these, or with `isIn = false` none of them. */
  final case class OfStream(names: Seq[String], isIn: Boolean = true) extends RowCondition {
    override def of(stream: String, shard: Shard): Option[ReadBounds] = whole(names.contains(stream) == isIn)
    override def text: String = list("stream", names, isIn)
  }

  /** The id of the shard is one of these, or with `isIn = false` none of them. */
  final case class OfShard(ids: Seq[String], isIn: Boolean = true) extends RowCondition {
    override def of(stream: String, shard: Shard): Option[ReadBounds] = whole(ids.contains(shard.id.value) == isIn)
    override def text: String = list("shardId", ids, isIn)
  }

  /**
   * The partition key is one of these, and its MD5 hash selects the shard. Only right for streams whose producers
   * neither set explicit hash keys nor put records of other shards into an aggregate.
   */
  final case class OfKey(keys: Seq[String]) extends RowCondition {
    private lazy val hashes = keys.map(HashKey.ofPartitionKey)
    override def of(stream: String, shard: Shard): Option[ReadBounds] = whole(isIn(shard.hashKeyRange))
    override def text: String = list("partitionKey", keys, isIn = true)
    private def isIn(range: HashKeyRange): Boolean = hashes.exists(range.contains)
  }

  /** The sequence number equals one of these texts. */
  final case class Numbered(numbers: Seq[String]) extends RowCondition {
    private lazy val parsed = numbers.flatMap(SequenceNumber.parse).sorted
    override def of(stream: String, shard: Shard): Option[ReadBounds] =
      if (parsed.isEmpty) None else within(shard, Some(parsed.head), Some(parsed.last))
    override def text: String = list(Number, numbers, isIn = true)
  }

  /**
   * The sequence number is between two texts, both inclusive, in the order of texts. That is the order of the numbers
   * only for as many digits, so it reduces nothing in a shard whose numbers have another number of digits.
   */
  final case class NumberedWithin(from: Option[String], to: Option[String]) extends RowCondition {
    override def of(stream: String, shard: Shard): Option[ReadBounds] = {
      val digits = shard.startingSequenceNumber.value.length
      def number(text: Option[String]) = text.filter(_.length == digits).flatMap(SequenceNumber.parse)
      within(shard, number(from), number(to))
    }
    override def text: String =
      (from.map(value => s"$Number >= ${quoted(value)}") ++ to.map(value => s"$Number <= ${quoted(value)}"))
        .mkString(" AND ")
  }

  final private case class All(of: Seq[RowCondition]) extends RowCondition {
    override def of(stream: String, shard: Shard): Option[ReadBounds] =
      of.foldLeft(Option(ReadBounds.Whole))((bounds, one) => bounds.flatMap(_.and(one.of(stream, shard))))
    override def text: String = of.map(_.text).mkString(" AND ")
  }

  final private case class One(of: Seq[RowCondition]) extends RowCondition {
    override def of(stream: String, shard: Shard): Option[ReadBounds] =
      of.flatMap(_.of(stream, shard)).reduceOption(_ or _)
    override def text: String = of.map(_.text).mkString("(", " OR ", ")")
  }

  /** Each row meets all of these. */
  def all(conditions: Seq[RowCondition]): RowCondition = conditions.filter(_ != Always) match {
    case some if some.contains(Never) => Never
    case Seq() => Always
    case Seq(one) => one
    case some => All(some.flatMap {
        case All(inner) => inner
        case other => Seq(other)
      })
  }

  /** Each row meets at least one of these. */
  def any(conditions: Seq[RowCondition]): RowCondition = conditions.filter(_ != Never) match {
    case some if some.contains(Always) => Always
    case Seq() => Never
    case Seq(one) => one
    case some => One(some)
  }

  private val Arrival = "approximateArrivalTimestamp"
  private val Number = "sequenceNumber"

  /** Number of values that a plan shows. */
  private val Shown = 5

  private def whole(isPossible: Boolean): Option[ReadBounds] = Option.when(isPossible)(ReadBounds.Whole)

  /** Leaves out the bounds that the shard itself has. */
  private def within(shard: Shard, from: Option[SequenceNumber], to: Option[SequenceNumber]): Option[ReadBounds] = {
    val start = shard.startingSequenceNumber
    val isAfter = from.exists(first => shard.endingSequenceNumber.exists(_ < first))
    val isEmpty = from.exists(first => to.exists(_ < first))
    if (isAfter || isEmpty || to.exists(_ < start)) None
    else Some(ReadBounds(from = from.filter(_ > start), to = to))
  }

  private def quoted(text: String): String = s"'$text'"

  private def list(column: String, values: Seq[String], isIn: Boolean): String = values match {
    case Seq(one) => s"$column ${if (isIn) "=" else "<>"} ${quoted(one)}"
    case several =>
      val more = if (several.size > Shown) s", … ${several.size - Shown} more" else ""
      several.take(Shown).map(quoted).mkString(s"$column ${if (isIn) "IN" else "NOT IN"} (", ", ", s"$more)")
  }
}

/**
 * Bounds of what is read of a shard, all inclusive: arrival times in epoch milliseconds, and sequence numbers.
 *
 * @param from
 *   a number that may be of another shard or stream, because a user wrote it
 */
final case class ReadBounds(
    fromMillis: Long = Long.MinValue,
    toMillis: Long = Long.MaxValue,
    from: Option[SequenceNumber] = None,
    to: Option[SequenceNumber] = None
) {

  /** Whether only the record with one number is read. */
  def isOneNumber: Boolean = from.nonEmpty && from == to

  /** Returns bounds that contain each record which both contain; `None` if there is none. */
  def and(other: Option[ReadBounds]): Option[ReadBounds] = other.flatMap { that =>
    val both = ReadBounds(
      math.max(fromMillis, that.fromMillis),
      math.min(toMillis, that.toMillis),
      (from ++ that.from).maxOption,
      (to ++ that.to).minOption
    )
    val isEmpty = both.fromMillis > both.toMillis || both.from.exists(first => both.to.exists(_ < first))
    Option.unless(isEmpty)(both)
  }

  /** Returns bounds that contain each record which one of both contains. */
  def or(that: ReadBounds): ReadBounds = ReadBounds(
    math.min(fromMillis, that.fromMillis),
    math.max(toMillis, that.toMillis),
    from.flatMap(one => that.from.map(other => if (one < other) one else other)),
    to.flatMap(one => that.to.map(other => if (one < other) other else one))
  )
}

object ReadBounds {
  val Whole: ReadBounds = ReadBounds()
}
