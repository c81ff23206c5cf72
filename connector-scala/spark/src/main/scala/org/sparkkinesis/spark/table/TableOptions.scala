package org.sparkkinesis.spark.table

import java.util.Locale

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.util.CaseInsensitiveStringMap

import org.sparkkinesis.config.Options

/**
 * The options of a table. The options of a read or write override them.
 *
 * @param read
 *   checks the names and values of options
 */
final class TableOptions(properties: Map[String, String], read: Map[String, String] => Options) {
  private val declared = read(properties)

  def merged(options: CaseInsensitiveStringMap): Options = {
    val above = options.asCaseSensitiveMap().asScala.toMap
    val names = above.keySet.map(_.toLowerCase(Locale.ROOT))
    read(properties.filterNot { case (name, _) => names(name.toLowerCase(Locale.ROOT)) } ++ above)
  }

  override def toString: String = declared.toString
}
