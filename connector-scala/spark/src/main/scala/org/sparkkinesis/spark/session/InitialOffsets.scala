package org.sparkkinesis.spark.session

import scala.concurrent.duration._

import org.sparkkinesis.config.value.PositionOption
import org.sparkkinesis.model.StartingPosition
import org.sparkkinesis.plan.offset.{InitialShards, Retention, SourceOffset, StreamOffset}
import org.sparkkinesis.service.ShardFilter

/** The offsets at which a query and the opened streams of a session begin. */
final class InitialOffsets private[session] (session: StreamSession) {
  import InitialOffsets._

  /**
   * Returns the initial offset of a query. "Latest" becomes a time, so that a restart starts at the same position.
   *
   * @param position
   *   returns the position of a stream by its ARN
   * @param latestMillis
   *   the time that "latest" means, by the service's clock
   */
  def of(position: String => PositionOption, latestMillis: Long): SourceOffset =
    SourceOffset(session.streams.keys.map(arn => of(arn, position(arn), latestMillis)))

  /** Returns the initial offset of one stream. */
  def of(arn: String, position: PositionOption, latestMillis: Long): StreamOffset = {
    val stream = session.streams(arn)
    val pinned =
      pin(withinRetention(position, session.oldestMillis(arn)), latestMillis - ArrivalTolerance.toMillis)
    // "Latest" is the time of the first start, which may have been an earlier run, so a closed parent is read as well.
    val all = session.shards.withParents(arn)
    val filter = InitialShards.filter(pinned.default)
    val listed = if (filter == ShardFilter.FromTrimHorizon) all
    else session.shards.withParents(arn, filter, all.iterator.map(_.id).toSet)
    StreamOffset(
      stream.name,
      stream.arn,
      stream.creationMillis,
      InitialShards.choose(stream.name, pinned, listed, all)
    )
  }

  /**
   * Returns an offset of an opened stream with the oldest time that its records may have when they are fetched, for
   * each position without a time.
   */
  def withOldestTime(offset: StreamOffset): StreamOffset =
    offset.timed(math.max(offset.creationMillis, session.oldestMillis(offset.arn) + Retention.FirstFetch.toMillis))
}

object InitialOffsets {

  /**
   * How much earlier a record may seem to have arrived than it did: arrival times are approximate. Every record that
   * seems to have arrived before "latest" is in the shard when that is resolved. Otherwise a task that reads the range
   * again from the service would skip such a record.
   */
  val ArrivalTolerance: FiniteDuration = 250.millis

  /** Replaces "latest" by the current time. */
  def pin(position: PositionOption, nowMillis: Long): PositionOption = {
    def at(one: StartingPosition): StartingPosition =
      if (one == StartingPosition.Latest) StartingPosition.AtTimestamp(nowMillis) else one
    PositionOption(at(position.default), position.shards.map { case (shard, one) => shard -> at(one) })
  }

  /**
   * Replaces a time before the retention period by the oldest record. Otherwise the offset would look like one that
   * expired unread.
   */
  private def withinRetention(position: PositionOption, oldestMillis: Long): PositionOption = {
    def at(one: StartingPosition): StartingPosition = one match {
      case StartingPosition.AtTimestamp(millis) if millis < oldestMillis => StartingPosition.TrimHorizon
      case other => other
    }
    PositionOption(at(position.default), position.shards.map { case (shard, one) => shard -> at(one) })
  }
}
