package org.sparkkinesis.spark.table

import java.util
import java.util.Locale

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.spark.sql.connector.catalog.TableCatalog
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import org.sparkkinesis.config.Options
import org.sparkkinesis.event.SecretInClearText
import org.sparkkinesis.event.log.{EventLog, QueryContext}
import org.sparkkinesis.spark.error.StatementException

/**
 * The options of a table. The options of a read or write override them.
 *
 * A catalog stores options among the properties of a table: each option of `OPTIONS` twice, as itself and with the
 * prefix `option.`. The other properties belong to Spark and to other tools. Those that have the name of an option set
 * it, because `ALTER TABLE … SET TBLPROPERTIES` is how SQL changes an option. The rest are ignored.
 *
 * @param raw
 *   the options of a read or write, or the properties that a catalog stores
 * @param read
 *   checks the names and values of the options of the table, and of the read or write
 * @param peekAt
 *   checks them without an event
 * @param isOption
 *   whether an option has this name
 */
final class TableOptions(
    raw: Map[String, String],
    read: TableOptions.Read,
    peekAt: TableOptions.Read,
    isOption: String => Boolean
) {
  import TableOptions._

  /** Whether a catalog supplied the properties. Its tables load whatever their options are. */
  val isOfCatalog: Boolean = raw.contains(TableCatalog.PROP_PROVIDER)

  /** The options as they are written. */
  val declared: Map[String, String] = if (isOfCatalog) ofCatalog(raw, isOption) else raw

  /** Returns the options of the table if they are valid, without an error or an event. */
  lazy val peek: Option[Options] = Try(peekAt(declared, Map.empty)).toOption

  /** Returns the checked options of the table. */
  def checked: Options = StatementException.raised(warned(read(declared, Map.empty)))

  /** Returns the checked options of the table and of a read or write. */
  def merged(options: CaseInsensitiveStringMap): Options =
    StatementException.raised(warned(read(declared, options.asCaseSensitiveMap().asScala.toMap)))

  private def warned(options: Options): Options = {
    SecretWarnings.of(options, raw).foreach(warning => events.emit(SecretInClearText(warning)))
    options
  }

  /**
   * Returns what Spark shows of the table: its properties, with its options under both names, and without secrets.
   * Without a catalog there are only the options.
   */
  def shown: util.Map[String, String] = {
    val others: Map[String, String] =
      if (isOfCatalog) raw.filterNot { case (name, _) => isTwin(name) || name == "path" && !declared.contains(name) }
      else Map.empty
    val hidden = Options.redact(declared)
    val twins = hidden.map { case (name, value) => s"${TableCatalog.OPTION_PREFIX}$name" -> value }
    (Options.redact(others) ++ hidden ++ twins).asJava
  }
}

object TableOptions {

  /** A table exists before any query, so its events name no query. */
  private val events = new EventLog(QueryContext.Unknown)

  /** Checks the options of a table, and those of one read or write above them. */
  type Read = (Map[String, String], Map[String, String]) => Options

  /** Returns the options among the properties that a catalog stores. */
  private def ofCatalog(properties: Map[String, String], isOption: String => Boolean): Map[String, String] = {
    val twins = properties.keySet.filter(isTwin).map(name => lower(name).stripPrefix(TableCatalog.OPTION_PREFIX))
    properties.filter { case (name, _) => !isTwin(name) && (twins(lower(name)) || isOption(name)) }
  }

  private def isTwin(name: String): Boolean = lower(name).startsWith(TableCatalog.OPTION_PREFIX)

  private def lower(name: String): String = name.toLowerCase(Locale.ROOT)

  /** Returns the properties of a catalog's table with the options of one read or write above them. */
  def withOptions(properties: Map[String, String], options: Map[String, String]): Map[String, String] = {
    val above = options.flatMap { case (name, value) =>
      Seq(name -> value, s"${TableCatalog.OPTION_PREFIX}$name" -> value)
    }
    val names = above.keySet.map(lower)
    properties.filterNot { case (name, _) => names(lower(name)) } ++ above
  }
}
