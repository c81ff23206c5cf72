package org.sparkkinesis.spark.catalog

import java.util.Locale

import scala.util.Try

import org.apache.spark.sql.connector.catalog.TableCatalog

import org.sparkkinesis.error.TableErrors
import org.sparkkinesis.model.KinesisQuotas
import org.sparkkinesis.service.{ChangeRequest, StreamDescription}

/**
 * The properties of a table that a statement sets: how its stream shall be.
 *
 * @param shards
 *   number of shards of a provisioned stream
 * @param onDemand
 *   whether the service adapts the number of shards
 * @param retentionHours
 *   how long records are kept
 */
final case class StreamProperties(shards: Option[Int], onDemand: Option[Boolean], retentionHours: Option[Int]) {
  import StreamProperties._

  /**
   * Returns how a new stream is created. Without a mode and a number of shards it is on-demand.
   *
   * @throws org.sparkkinesis.error.KinesisConnectorException
   *   KINESIS_CATALOG_PROPERTY_INVALID
   */
  def create: ChangeRequest.Create = {
    if (onDemand.contains(false) && shards.isEmpty)
      throw TableErrors.streamProperty(
        property = Mode,
        value = Provisioned,
        reason = "A provisioned stream has a number of shards.",
        expected = s"'$Shards' beside it"
      )
    ChangeRequest.Create(shards)
  }

  /**
   * Returns what makes a stream have these properties, in this order, each after the one before has been made.
   *
   * @throws org.sparkkinesis.error.KinesisConnectorException
   *   KINESIS_CATALOG_PROPERTY_INVALID
   */
  def changes(found: StreamDescription): Seq[ChangeRequest] = {
    if (onDemand.getOrElse(found.onDemand)) shards.foreach(refuseShards)
    val mode = onDemand.filter(_ != found.onDemand).map(ChangeRequest.SetMode(_))
    val counts = shards.toSeq.flatMap(ChangeRequest.shardCounts(found.openShards, _)).map(ChangeRequest.Reshard(_))
    val retention = retentionHours.filter(_ != found.retentionHours).map { hours =>
      if (hours > found.retentionHours) ChangeRequest.IncreaseRetention(hours)
      else ChangeRequest.DecreaseRetention(hours)
    }
    mode.toSeq ++ counts ++ retention
  }
}

object StreamProperties {
  val Shards = "shards"
  val Mode = "mode"
  val RetentionHours = "retentionHours"
  private val Names = Seq(Shards, Mode, RetentionHours)
  private val OnDemand = "ON_DEMAND"
  private val Provisioned = "PROVISIONED"

  /** Before these names are the properties that only the service sets. `SHOW CREATE TABLE` has them. */
  private val Shown = "stream."

  /** The properties that Spark adds by itself to those of the statement. */
  private val OfSpark = Set(TableCatalog.PROP_OWNER, TableCatalog.PROP_PROVIDER)

  /**
   * Reads the properties of a statement. Spark's own, and those that only the service sets, are ignored.
   *
   * @throws org.sparkkinesis.error.KinesisConnectorException
   *   KINESIS_CATALOG_PROPERTY_INVALID
   */
  def of(properties: Iterable[(String, String)]): StreamProperties = {
    val read = properties.toSeq.filterNot { case (name, _) => OfSpark(name) || name.startsWith(Shown) }
      .foldLeft(StreamProperties(None, None, None)) { case (before, (name, value)) =>
        Names.find(_.equalsIgnoreCase(name)).getOrElse(name) match {
          case Shards => before.copy(shards = Some(whole(name, value, 1, Int.MaxValue)))
          case Mode => before.copy(onDemand = Some(isOnDemand(name, value)))
          case RetentionHours => before.copy(retentionHours = Some(whole(name, value, MinHours, MaxHours)))
          case _ =>
            throw TableErrors.streamProperty(
              property = name,
              value = value,
              reason = "It is no property of a stream. The catalog stores nothing beside the service.",
              expected = s"'$Shards', '$Mode' and '$RetentionHours'; set options for one query in WITH ('option' = " +
                "'value'), and those of all tables in the properties of the catalog"
            )
        }
      }
    if (read.onDemand.contains(true)) read.shards.foreach(refuseShards)
    read
  }

  /** Returns the properties of a stream as statements show them. */
  def shown(found: StreamDescription): Map[String, String] = Map(
    Mode -> (if (found.onDemand) OnDemand else Provisioned),
    RetentionHours -> found.retentionHours.toString
  ) ++ (if (found.onDemand) Map.empty[String, String] else Map(Shards -> found.openShards.toString)) ++ Map(
    s"${Shown}arn" -> found.arn,
    s"${Shown}consumers" -> found.consumers.toString,
    s"${Shown}created" -> java.time.Instant.ofEpochMilli(found.creationMillis).toString,
    s"${Shown}encryption" -> found.encryption.getOrElse("none"),
    s"${Shown}maxRecordSize" -> s"${found.maxRecordBytes / KinesisQuotas.KiB}k",
    s"${Shown}openShards" -> found.openShards.toString,
    s"${Shown}status" -> found.status.name
  )

  private val MinHours = KinesisQuotas.Lifetime.RetentionMin.toHours.toInt
  private val MaxHours = KinesisQuotas.Lifetime.RetentionMax.toHours.toInt

  private def whole(name: String, value: String, from: Int, to: Int): Int =
    Try(value.trim.toInt).toOption.filter(number => number >= from && number <= to).getOrElse(
      throw TableErrors.streamProperty(
        property = name,
        value = value,
        reason = "The value is not a number of this range.",
        expected = s"a whole number from $from to $to"
      )
    )

  private def isOnDemand(name: String, value: String): Boolean = value.trim.toUpperCase(Locale.ROOT) match {
    case OnDemand => true
    case Provisioned => false
    case _ =>
      throw TableErrors.streamProperty(
        property = name,
        value = value,
        reason = "A stream has one of two capacity modes.",
        expected = s"$OnDemand or $Provisioned"
      )
  }

  private def refuseShards(count: Int): Nothing = throw TableErrors.streamProperty(
    property = Shards,
    value = count.toString,
    reason = "The service decides the number of shards of an on-demand stream.",
    expected = s"'$Shards' with '$Mode' = '$Provisioned'"
  )
}
