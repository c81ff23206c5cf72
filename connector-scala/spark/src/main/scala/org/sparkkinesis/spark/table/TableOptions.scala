package org.sparkkinesis.spark.table

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.util.CaseInsensitiveStringMap

import org.sparkkinesis.config.Options
import org.sparkkinesis.event.SecretInClearText
import org.sparkkinesis.event.log.{EventLog, QueryContext}

/**
 * The options of a table. The options of a read or write override them.
 *
 * @param read
 *   checks the names and values of the options of the table, and of the read or write
 */
final class TableOptions(properties: Map[String, String], read: (Map[String, String], Map[String, String]) => Options) {
  private val declared = read(properties, Map.empty)
  SecretWarnings.of(declared, properties).foreach(warning =>
    new EventLog(QueryContext.Unknown).emit(SecretInClearText(warning))
  )

  def merged(options: CaseInsensitiveStringMap): Options =
    read(properties, options.asCaseSensitiveMap().asScala.toMap)

  override def toString: String = declared.toString
}
