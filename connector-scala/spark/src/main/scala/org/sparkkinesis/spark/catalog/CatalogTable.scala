package org.sparkkinesis.spark.catalog

import java.util

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog.SupportsPartitionManagement
import org.apache.spark.sql.types.{StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

import org.sparkkinesis.error.TableErrors
import org.sparkkinesis.model.Shard
import org.sparkkinesis.service.StreamDescription
import org.sparkkinesis.spark.error.StatementException
import org.sparkkinesis.spark.settings.KinesisSchema
import org.sparkkinesis.spark.table.{KinesisTable, TableOptions}

/**
 * A stream as a table of a catalog. Its properties are those of the stream, and its partitions are the shards.
 *
 * @param shards
 *   lists the shards of the stream
 */
final class CatalogTable(
    catalog: String,
    declared: TableOptions,
    found: StreamDescription,
    shards: () => Seq[Shard]
) extends KinesisTable(declared, KinesisSchema.columns) with SupportsPartitionManagement {

  override def properties(): util.Map[String, String] = StreamProperties.shown(found).asJava

  override def partitionSchema(): StructType =
    CatalogTable.Columns.foldLeft(new StructType)(_.add(_, StringType, nullable = false))

  override def listPartitionIdentifiers(names: Array[String], values: InternalRow): Array[InternalRow] = {
    val wanted = names.zipWithIndex.map { case (name, i) =>
      CatalogTable.Columns.indexOf(name) -> values.getString(i)
    }
    shards().map(CatalogTable.row).filter(row => wanted.forall { case (i, value) => row(i) == value })
      .map(row => InternalRow.fromSeq(row.map(UTF8String.fromString))).toArray
  }

  override def loadPartitionMetadata(shard: InternalRow): util.Map[String, String] = util.Collections.emptyMap()

  override def createPartition(shard: InternalRow, properties: util.Map[String, String]): Unit =
    refused("ADD PARTITION")

  override def dropPartition(shard: InternalRow): Boolean = refused("DROP PARTITION")

  override def replacePartitionMetadata(shard: InternalRow, properties: util.Map[String, String]): Unit =
    refused("a change of a partition")

  private def refused(statement: String): Nothing = StatementException.raised(throw TableErrors.catalogUnsupported(
    catalog,
    statement,
    "The partitions of a stream are its shards, which the service makes.",
    s"To change their number, use ALTER TABLE … SET TBLPROPERTIES ('${StreamProperties.Shards}' = '…')."
  ))
}

private object CatalogTable {

  /** The columns of `SHOW PARTITIONS`. */
  val Columns: Seq[String] = Seq("shardId", "state", "startingHashKey", "endingHashKey")

  def row(shard: Shard): Seq[String] = Seq(
    shard.id.value,
    if (shard.isOpen) "OPEN" else "CLOSED",
    shard.hashKeyRange.start.toString,
    shard.hashKeyRange.end.toString
  )
}
