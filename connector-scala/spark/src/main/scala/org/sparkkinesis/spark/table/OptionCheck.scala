package org.sparkkinesis.spark.table

import java.util

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog.{SupportsRead, Table, TableCapability, TableProvider}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read.{LocalScan, ScanBuilder}
import org.apache.spark.sql.types.{StringType, StructField, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import org.sparkkinesis.config.Options
import org.sparkkinesis.spark.connection.{Connection, OptionEffects}
import org.sparkkinesis.spark.metadata.MetadataSource
import org.sparkkinesis.spark.session.FanOutConsumers

/**
 * A format that only supplies a schema, to check options. Spark asks for the schema while it analyses `spark.read`,
 * before any query starts. An invalid option fails the analysis with the error of the query; otherwise the schema has
 * one column for each warning, with the text as its comment. The Python package uses it in classic sessions and
 * through Spark Connect. It calls no service, and the table is empty.
 */
abstract class OptionCheck(format: String, read: Map[String, String] => Options, check: Options => Seq[String])
    extends TableProvider {
  override def inferSchema(raw: CaseInsensitiveStringMap): StructType = {
    val properties = raw.asCaseSensitiveMap().asScala.toMap
    val options = read(properties)
    val warnings = options.warnings ++ check(options) ++ SecretWarnings.of(options, properties)
    StructType(warnings.zipWithIndex.map { case (text, number) =>
      StructField(s"warning$number", StringType).withComment(text)
    })
  }

  override def getTable(warnings: StructType, by: Array[Transform], raw: util.Map[String, String]): Table =
    new OptionCheckTable(format, warnings)
}

/** Checks the options of a read. */
final class ReadOptionCheck(format: String) extends OptionCheck(
      format,
      Options.read(_, secrets = SecretWarnings.resolver),
      { options =>
        FanOutConsumers.check(options)
        if (MetadataSource.isWanted(options)) MetadataSource.ids(options)
        else Connection.clientSettings(options, Connection.streams(options).headOption)
        OptionEffects.ofRead(options, query = None)
      }
    )

/** Checks the options of a write. The rows may name its streams. */
final class WriteOptionCheck(format: String)
    extends OptionCheck(
      format,
      Options.read(_, secrets = SecretWarnings.resolver),
      { options =>
        Connection.clientSettings(options, None)
        OptionEffects.ofWrite(options, OptionEffects.selectionOfWrite(options))
      }
    )

final private class OptionCheckTable(format: String, warnings: StructType) extends Table with SupportsRead {
  override def name(): String = format
  override def schema(): StructType = warnings
  override def capabilities(): util.Set[TableCapability] = util.EnumSet.of(TableCapability.BATCH_READ)
  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = () => new OptionCheckScan(warnings)
}

final private class OptionCheckScan(warnings: StructType) extends LocalScan {
  override def readSchema(): StructType = warnings
  override def rows(): Array[InternalRow] = Array.empty
}
