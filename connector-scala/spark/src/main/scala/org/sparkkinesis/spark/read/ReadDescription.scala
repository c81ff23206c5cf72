package org.sparkkinesis.spark.read

import scala.util.Try

import org.sparkkinesis.config.{ConfigEntry, Options, ReadOptions}
import org.sparkkinesis.spark.metadata.MetadataSource

/** What Spark shows of a table or a read in plans, in the progress of queries and in its messages, without secrets. */
object ReadDescription {

  /** @param options the options of the table, if they are valid */
  def ofTable(format: String, options: Option[Options]): String = options.fold(s"$format(invalid options)") { valid =>
    val settings = Seq[ConfigEntry[_]](ReadOptions.initialPosition, ReadOptions.endingPosition)
      .flatMap(entry => valid.written(entry).map(text => s"${entry.key}=$text"))
    (streams(valid) +: settings :+ mode(valid)).mkString(s"$format(", ", ", ")")
  }

  def ofBatch(options: Options): String =
    s"kinesis ${streams(options)} from ${from(options, "trim_horizon")} to " +
      s"${options.written(ReadOptions.endingPosition).getOrElse("latest")}"

  def ofStream(options: Options): String =
    s"kinesis ${streams(options)} from ${from(options, "latest")}, ${mode(options)}"

  private def from(options: Options, default: String): String =
    options.written(ReadOptions.initialPosition).getOrElse(default)

  private def mode(options: Options): String = options(ReadOptions.consumerMode).word

  private def streams(options: Options): String =
    Try(MetadataSource.names(options)).filter(_.nonEmpty).fold(_ => "no stream", _.mkString(", "))
}
