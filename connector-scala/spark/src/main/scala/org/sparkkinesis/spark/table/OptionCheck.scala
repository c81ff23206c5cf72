package org.sparkkinesis.spark.table

import java.util.{List => JList, Map => JMap}

import scala.jdk.CollectionConverters._

import org.sparkkinesis.config.Options
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.spark.connection.Connection
import org.sparkkinesis.spark.session.FanOutConsumers

/**
 * The checks of options that need no service, in types that the Python package reaches through py4j before a query
 * starts. A query makes the same checks itself.
 */
object OptionCheck {

  /** The message of the first thing that is wrong with the options of a source, or null. */
  def problemOfSource(raw: JMap[String, String]): String = problem(raw) { options =>
    val streams = Connection.streams(options)
    FanOutConsumers.check(options)
    Connection.clientSettings(options, streams.headOption)
  }

  /** The same for a sink; which stream rows go to may be known only with their columns. */
  def problemOfSink(raw: JMap[String, String]): String = problem(raw)(Connection.clientSettings(_, None))

  /** The same for names and values alone. */
  def problemOfValues(raw: JMap[String, String]): String = problem(raw)(_ => ())

  /** A sentence for every deprecated name; for options that have no problem. */
  def warnings(raw: JMap[String, String]): JList[String] = Options.read(raw.asScala.toMap).warnings.asJava

  private def problem(raw: JMap[String, String])(check: Options => Any): String =
    try {
      check(Options.read(raw.asScala.toMap))
      null
    } catch {
      case e: KinesisConnectorException => e.getMessage
    }
}
