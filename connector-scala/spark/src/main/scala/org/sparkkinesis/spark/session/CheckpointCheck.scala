package org.sparkkinesis.spark.session

import java.time.Instant
import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.concurrent.duration._

import org.sparkkinesis.error.ReadErrors
import org.sparkkinesis.event.{DataLost, StreamRecreated}
import org.sparkkinesis.model.{Shard, ShardId, StreamShard}
import org.sparkkinesis.plan.BatchPlanner
import org.sparkkinesis.plan.offset.{LostLineage, RecreatedStream, Retention, SourceOffset, StreamOffset}
import org.sparkkinesis.service.StreamDescription
import org.sparkkinesis.shard.ShardGraph
import org.sparkkinesis.spark.connection.Environment

/**
 * Compares the offsets of a checkpoint with the streams as they are now, so that lost data is detected.
 *
 * With `failOnDataLoss`, lost data ends the query. Otherwise an event reports it, and the query continues with the
 * oldest remaining record. For one query's thread.
 */
final class CheckpointCheck(session: StreamSession, environment: Environment) {
  import CheckpointCheck._
  import environment.clock

  private val losses = environment.losses(session.settings.failOnDataLoss)

  /** The shards of recreated streams. */
  private var remade = Map.empty[String, Seq[Shard]]
  private var checkedRetention = false

  /** Retention periods in hours that were read again while the query was running, and when. Read by other threads. */
  @volatile private var retentions = Map.empty[String, (Int, Long)]

  /** The shards of each stream from the listing that checked its lineage. */
  private var listings = Map.empty[String, Seq[Shard]]
  private var linked = Option.empty[(SourceOffset, SourceOffset)]

  /**
   * Returns the offset with each recreated stream set to its oldest record, except for shards of the new stream that
   * the query has read already. At least one stream must still be read.
   *
   * @param wasDrained
   *   whether every record of the old stream was read, so that none is lost
   *
   * @throws KinesisConnectorException
   *   KINESIS_CHECKPOINT_OTHER_STREAM, KINESIS_STREAM_RECREATED
   */
  def mend(offset: SourceOffset, wasDrained: String => Boolean = _ => false): SourceOffset = {
    if (!session.isDynamic && !offset.streams.keysIterator.exists(session.isOpen))
      throw ReadErrors.checkpointOfOtherStream(
        checkpointStream = offset.streams.keys.mkString(", "),
        stream = session.streams.keys.mkString(", "),
        reason =
          "The query reads no stream of the checkpoint any more. Positions in one stream mean nothing in another."
      )
    val changed = offset.read.filter(stream =>
      session.streams.get(stream.arn).exists(_.creationMillis != stream.creationMillis)
    ).toSeq
    if (changed.isEmpty) offset
    else offset.copy(streams =
      offset.streams ++ changed.map(stream => stream.arn -> recreated(stream, wasDrained(stream.arn)))
    )
  }

  /** Checks once whether records after the positions may have expired while the query was stopped. */
  def warnOfExpired(offset: SourceOffset): Unit = if (!checkedRetention) {
    checkedRetention = true
    val graphs = listings.view.mapValues(ShardGraph.of).toMap.withDefaultValue(ShardGraph.Empty)
    // The children of finished shards may have expired as well.
    warnOfExpired(BatchPlanner.settle(opened(offset), graphs, _ => None).read)
  }

  private def opened(offset: SourceOffset): SourceOffset =
    if (offset.streams.keysIterator.forall(session.isOpen)) offset
    else offset.copy(streams = offset.streams.filter { case (arn, _) => session.isOpen(arn) })

  /** Checks whether records of streams that are read again may have expired while they were parked. */
  def warnOfExpired(streams: Iterator[StreamOffset]): Unit =
    streams.foreach(stream =>
      Retention.lost(stream, expiryMillis(stream.arn)).headOption.foreach { case (shard, until) =>
        expired(stream.arn, shard, s"it was read up to ${Instant.ofEpochMilli(until)}")
      }
    )

  /**
   * Checks whether records of a batch that an earlier run planned may have expired since. Returns arrival times of the
   * first records that have not expired yet, where they are known.
   *
   * @param read
   *   the shards that the batch reads
   */
  def warnOfExpiredBatch(start: SourceOffset, end: SourceOffset, read: Set[StreamShard]): Map[StreamShard, Long] = {
    val expiry = (start.read ++ end.read).map(_.arn).toSet.iterator.map((arn: String) => arn -> expiryMillis(arn)).toMap
    start.read.foreach { stream =>
      val shards = read.collect { case StreamShard(stream.arn, shard) => shard }
      end.streams.get(stream.arn).toSeq
        .flatMap(Retention.lostOfBatch(stream, _, shards, expiry(stream.arn)))
        .headOption.foreach { case (shard, from) =>
          expired(
            stream.arn,
            shard,
            s"a repeated batch starts with records that arrived at ${Instant.ofEpochMilli(from)}"
          )
        }
    }
    val left = for {
      stream <- end.read
      (shard, from) <- stream.begun.iterator if from >= expiry(stream.arn)
    } yield StreamShard(stream.arn, shard) -> from
    left.filter(expiresSoon).toMap
  }

  /** A time before which the records of a stream have expired. */
  def oldestMillis(arn: String): Long = session.serviceClock.atLeast - TimeUnit.HOURS.toMillis(retentionHours(arn))

  /** A time before which the records of a stream may have expired. */
  def expiryMillis(arn: String): Long = session.serviceClock.atMost - TimeUnit.HOURS.toMillis(retentionHours(arn))

  /**
   * Returns whether a record with this arrival time may expire before a task reads it from the service. Arrival times
   * are approximate: a missing younger record is no sign that it expired.
   */
  def expiresSoon(record: (StreamShard, Long)): Boolean =
    record._2 < expiryMillis(record._1.stream) + LongestBatch.toMillis

  /**
   * Reports that records of a shard expired before a running query read them, unless the retention was increased
   * meanwhile.
   *
   * @param untilMillis
   *   the time up to which the shard had been read when newer records were fetched
   */
  def warnOfOvertaken(shard: StreamShard, untilMillis: Long): Unit = {
    val now = clock.nanoTime
    if (retentions.get(shard.stream).forall(now - _._2 >= RetentionPeriod.toNanos))
      retentions += shard.stream -> (session.describe(shard.stream).retentionHours -> now)
    if (untilMillis < expiryMillis(shard.stream))
      expired(shard.stream, shard.shard, s"it was read up to ${Instant.ofEpochMilli(untilMillis)} by a running query")
  }

  private def retentionHours(arn: String): Long =
    retentions.get(arn).fold(session.streams(arn).retentionHours)(_._1).toLong

  private def expired(arn: String, shard: ShardId, what: String): Unit = {
    val reason = s"$what, and the stream keeps ${retentionHours(arn)} hours"
    session.events.emit(DataLost(arn, shard, reason, losses.endsQuery))
    losses.lost(
      ReadErrors.dataLoss(
        shard = shard.value,
        stream = session.streams(arn).name,
        reason = reason,
        cause = "The query was stopped, or behind, for longer than the stream keeps its records."
      )
    )
  }

  /**
   * Returns the offset with expired shards, whose children have expired as well, replaced by the remaining shards
   * that no listing connects to them. The records in between are lost.
   *
   * @throws KinesisConnectorException
   *   KINESIS_DATA_LOSS
   */
  def link(offset: SourceOffset): SourceOffset = linked.filter(_._1 == offset).map(_._2).getOrElse {
    val whole = offset.copy(streams = offset.streams.map { case (arn, stream) =>
      arn -> (if (stream.isParked || !session.isOpen(arn)) stream else link(stream))
    })
    linked = Some(offset -> whole)
    whole
  }

  private def link(stream: StreamOffset): StreamOffset =
    if (listings.contains(stream.arn)) stream
    else
      lostLineage(stream).fold(stream) { lineage =>
        if (lineage.isLoss) report(stream, lineage)
        lineage.mend(stream)
      }

  private def report(stream: StreamOffset, lineage: LostLineage): Unit = {
    val shard = (lineage.unread ++ lineage.finished).minOption.orElse(lineage.orphans.minOption).fold("")(_.value)
    val left = if (lineage.orphans.isEmpty) "nothing is left"
    else s"only ${lineage.orphans.toSeq.sorted.mkString(", ")} and their children are left"
    val reason = s"of the shard and its descendants, $left"
    session.events.emit(DataLost(stream.arn, ShardId(shard), reason, losses.endsQuery))
    losses.lost(
      ReadErrors.dataLoss(
        shard = shard,
        stream = stream.name,
        reason = reason,
        cause = "The shards between expired since the query last read the stream."
      )
    )
  }

  /**
   * Lists the stream several times before it reports a lost lineage, because a listing may lack a shard for a while.
   */
  private def lostLineage(stream: StreamOffset): Option[LostLineage] = {
    @scala.annotation.tailrec
    def look(times: Int, before: Seq[Shard]): Option[LostLineage] = {
      val all = (session.allShards(stream.arn) ++ before).distinctBy(_.id)
      listings += stream.arn -> all
      val lost = LostLineage.of(stream, all)
      val isOld = times >= Listings && lost.exists(_.unread.exists(session.hasShard(stream.arn, _)))
      if (!lost.exists(_.isLoss) || (times >= Listings && !isOld)) lost
      // The shards of the offset exist, so nothing of them is lost, however long listings lack them.
      else if (times >= LongestListings) None
      else {
        environment.waiting.until(new CompletableFuture[Unit], ListingPause)
        look(times + 1, all)
      }
    }
    look(1, Nil)
  }

  /** Carries an offset over to the stream that replaced its stream; reports that once for each stream. */
  private def recreated(stream: StreamOffset, wasDrained: Boolean): StreamOffset = {
    val now: StreamDescription = session.streams(stream.arn)
    val listed = remade.getOrElse(
      stream.arn, {
        val endsQuery = losses.endsQuery && !wasDrained
        session.events.emit(StreamRecreated(stream.arn, stream.creationMillis, now.creationMillis, endsQuery))
        if (!wasDrained) losses.lost(
          ReadErrors.streamRecreated(
            stream = stream.name,
            checkpointCreation = Instant.ofEpochMilli(stream.creationMillis).toString,
            creation = Instant.ofEpochMilli(now.creationMillis).toString
          )
        )
        session.allShards(stream.arn)
      }
    )
    remade += stream.arn -> listed
    RecreatedStream.offset(stream, now.name, now.creationMillis, listed)
  }
}

private object CheckpointCheck {

  /** Number of listings; a listing is complete within a few seconds of a reshard. */
  val Listings = 4

  /** Minimum time between two requests for the retention period. */
  val RetentionPeriod: FiniteDuration = 1.minute

  /** Maximum time from planning a batch until its tasks have begun to read. */
  val LongestBatch: FiniteDuration = 6.hours

  /** Listings that lack a shard which exists, before the offset is read as it is. */
  val LongestListings = 60
  val ListingPause: FiniteDuration = 1.second
}
