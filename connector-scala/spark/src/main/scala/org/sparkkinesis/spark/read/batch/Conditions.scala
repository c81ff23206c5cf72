package org.sparkkinesis.spark.read.batch

import java.time.{LocalDate, ZoneId}

import scala.util.Try

import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.connector.expressions.filter.{And, Or, Predicate}
import org.apache.spark.sql.connector.expressions.{Cast, Expression, Literal, NamedReference}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import org.sparkkinesis.config.{Options, ReadOptions}
import org.sparkkinesis.plan.prune.RowCondition
import org.sparkkinesis.plan.prune.RowCondition._
import org.sparkkinesis.spark.settings.KinesisSchema

/**
 * Translates Spark's predicates on the columns of a stream. A predicate that it does not understand becomes
 * [[RowCondition.Always]], because Spark filters the rows anyway.
 *
 * @param zone
 *   the time zone of the session, for dates
 * @param prunesKeys
 *   whether the hash of a partition key selects the shard of its records
 */
final private[read] class Conditions(zone: ZoneId, prunesKeys: Boolean) {
  import Conditions._

  def of(predicates: Seq[Predicate]): RowCondition = all(predicates.map(of))

  def of(predicate: Predicate): RowCondition = predicate match {
    case and: And => all(Seq(of(and.left), of(and.right)))
    case or: Or => any(Seq(of(or.left), of(or.right)))
    case other => other.children.toSeq match {
        case Seq() if other.name == "ALWAYS_FALSE" => Never
        case Seq(column, Value(value)) if other.name == "IN" || Flipped.contains(other.name) =>
          compared(column, if (other.name == "IN") "=" else other.name, value)
        case Seq(Value(value), column) if Flipped.contains(other.name) => compared(column, Flipped(other.name), value)
        case column +: values if other.name == "IN" => in(column, values)
        case _ => Always
      }
  }

  private def in(column: Expression, values: Seq[Expression]): RowCondition = {
    val known = values.collect { case Value(value) => value }
    if (known.size < values.size) Always
    else column match {
      case Column(name) if Texts(name) => texts(known).fold[RowCondition](Always)(equal(name, _))
      case _ => any(known.map(compared(column, "=", _)))
    }
  }

  private def compared(column: Expression, operator: String, value: Literal[_]): RowCondition =
    if (value.value == null) (if (operator == "<=>") Always else Never)
    else column match {
      case Column(KinesisSchema.ArrivalTimestamp) => value.value match {
          case micros: Long if value.dataType == TimestampType =>
            arrived(operator, floor = Math.floorDiv(micros, 1000L), isExact = Math.floorMod(micros, 1000L) == 0)
          case _ => Always
        }
      case cast: Cast => cast.expression match {
          case Column(KinesisSchema.ArrivalTimestamp) => rounded(cast.dataType, operator, value)
          case _ => Always
        }
      case Column(name) if Texts(name) => texts(Seq(value)).fold[RowCondition](Always)(compared(name, operator, _))
      case _ => Always
    }

  private def compared(column: String, operator: String, values: Seq[String]): RowCondition = operator match {
    case "=" | "<=>" => equal(column, values)
    case "<>" if column == KinesisSchema.Stream => OfStream(values, isIn = false)
    case "<>" if column == KinesisSchema.ShardId => OfShard(values, isIn = false)
    case "<" | "<=" if column == KinesisSchema.SequenceNumber => NumberedWithin(None, values.headOption)
    case ">" | ">=" if column == KinesisSchema.SequenceNumber => NumberedWithin(values.headOption, None)
    case _ => Always
  }

  private def equal(column: String, values: Seq[String]): RowCondition = column match {
    case KinesisSchema.Stream => OfStream(values)
    case KinesisSchema.ShardId => OfShard(values)
    case KinesisSchema.SequenceNumber => Numbered(values)
    case _ if prunesKeys => OfKey(values)
    case _ => Always
  }

  /** Compares the arrival, in whole milliseconds, with a time between a millisecond and the next one. */
  private def arrived(operator: String, floor: Long, isExact: Boolean): RowCondition = operator match {
    case "=" | "<=>" => if (isExact) Arrived(floor, floor) else Never
    case ">" => Arrived(floor + 1, Long.MaxValue)
    case ">=" => Arrived(if (isExact) floor else floor + 1, Long.MaxValue)
    case "<" => Arrived(Long.MinValue, if (isExact) floor - 1 else floor)
    case "<=" => Arrived(Long.MinValue, floor)
    case _ => Always
  }

  /** Compares the day or the second of the arrival. */
  private def rounded(to: DataType, operator: String, value: Literal[_]): RowCondition = (to, value.value) match {
    case (DateType, day: Int) if value.dataType == DateType => within(operator, dayMillis(day), dayMillis(day + 1))
    case (LongType, second: Long) if value.dataType == LongType =>
      Try(Math.multiplyExact(second, 1000L)).fold(_ => Always, start => within(operator, start, start + 1000L))
    case _ => Always
  }

  private def within(operator: String, start: Long, next: Long): RowCondition = operator match {
    case "=" | "<=>" => Arrived(start, next - 1)
    case ">" => Arrived(next, Long.MaxValue)
    case ">=" => Arrived(start, Long.MaxValue)
    case "<" => Arrived(Long.MinValue, start - 1)
    case "<=" => Arrived(Long.MinValue, next - 1)
    case _ => Always
  }

  private def dayMillis(day: Int): Long =
    Math.multiplyExact(LocalDate.ofEpochDay(day.toLong).atStartOfDay(zone).toEpochSecond, 1000L)
}

private[read] object Conditions {

  /** Translates for the session of the calling thread. */
  def ofSession(options: Options): Conditions = new Conditions(
    DateTimeUtils.getZoneId(SQLConf.get.sessionLocalTimeZone),
    options(ReadOptions.partitionKeyPruning)
  )

  /** The columns of which a comparison with texts can reduce what is read. */
  private val Texts =
    Set(KinesisSchema.Stream, KinesisSchema.ShardId, KinesisSchema.SequenceNumber, KinesisSchema.PartitionKey)

  /** The operator with its sides exchanged. */
  private val Flipped =
    Map("=" -> "=", "<=>" -> "<=>", "<>" -> "<>", "<" -> ">", "<=" -> ">=", ">" -> "<", ">=" -> "<=")

  private object Column {
    def unapply(expression: Expression): Option[String] = expression match {
      case reference: NamedReference if reference.fieldNames.length == 1 => Some(reference.fieldNames.head)
      case _ => None
    }
  }

  private object Value {
    def unapply(expression: Expression): Option[Literal[_]] = expression match {
      case literal: Literal[_] => Some(literal)
      case _ => None
    }
  }

  /** Returns the values without nulls, which equal nothing, if all of them are texts in the order of their bytes. */
  private def texts(values: Seq[Literal[_]]): Option[Seq[String]] = {
    val known = values.filter(_.value != null).collect {
      case value if value.dataType == StringType =>
        value.value match {
          case text: UTF8String => Some(text.toString)
          case text: String => Some(text)
          case _ => None
        }
      case _ => None
    }
    Option.when(known.forall(_.nonEmpty))(known.flatten)
  }
}
