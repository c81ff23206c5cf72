package org.sparkkinesis.spark.session

import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.internal.SQLConf

import org.sparkkinesis.config.ConfigEntry
import org.sparkkinesis.config.value.{NearestName, PositionOption, StreamPositions, TimeReference}
import org.sparkkinesis.error.OptionErrors
import org.sparkkinesis.model.StartingPosition

/**
 * The positions of an option for the streams of a session. Create it on the query's thread: a time without a zone is in
 * the time zone of the thread's Spark session. Thread-safe.
 *
 * @param default
 *   position of the streams for which the option has none
 */
final class QueryPositions(session: StreamSession, option: ConfigEntry[StreamPositions], default: StartingPosition) {
  private val written = session.options.get(option)
  private val zone = DateTimeUtils.getZoneId(SQLConf.get.sessionLocalTimeZone)

  /**
   * Returns the position of an opened stream.
   *
   * @param startMillis
   *   the time to which relative times refer, in epoch milliseconds
   */
  def of(arn: String, startMillis: Long): PositionOption =
    written.flatMap(_.of(arn, session.streams(arn).name))
      .fold(PositionOption(default))(_.at(TimeReference(zone, startMillis)))

  /** Whether a position depends on the time when the query first started. */
  def isFromStart: Boolean = {
    def byDefault = default == StartingPosition.Latest
    written.fold(byDefault)(one => one.isFromStart || (one.default.isEmpty && byDefault))
  }

  /**
   * Checks that each position of a stream belongs to an opened one.
   *
   * @throws org.sparkkinesis.error.KinesisConnectorException
   *   KINESIS_OPTION_INVALID
   */
  def checkNames(): Unit = {
    val names = session.streams.values.flatMap(stream => Seq(stream.name, stream.arn)).toSeq
    written.toSeq.flatMap(_.streams.keys).find(!names.contains(_)).foreach { unknown =>
      val nearest = NearestName.of(unknown, names).fold("")(name => s" Did you mean '$name'?")
      throw OptionErrors.invalid(
        option = option.key,
        value = unknown,
        reason = s"No stream of this name is read.$nearest",
        expected = s"positions of the streams that are read: ${session.streams.values.map(_.name).mkString(", ")}"
      )
    }
  }
}
