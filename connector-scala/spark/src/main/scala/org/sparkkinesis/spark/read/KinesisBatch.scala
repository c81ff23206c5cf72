package org.sparkkinesis.spark.read

import java.time.Instant

import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.read.{Batch, InputPartition, PartitionReaderFactory}
import org.apache.spark.sql.types.StructType

import org.sparkkinesis.config.value.PositionOption
import org.sparkkinesis.config.{ConfigEntry, Options, QueryType, ReadOptions}
import org.sparkkinesis.consume.RangeEnd
import org.sparkkinesis.error.OptionErrors
import org.sparkkinesis.event.BatchFromLatest
import org.sparkkinesis.metadata.{AllowList, StreamState}
import org.sparkkinesis.model.{Shard, StartingPosition, StreamShard}
import org.sparkkinesis.plan.offset.InitialShards
import org.sparkkinesis.plan.prune.{PrunedRange, RangePruner, RowCondition}
import org.sparkkinesis.plan.{ShardRange, TaskPlanner}
import org.sparkkinesis.service.{KinesisService, ServiceLease}
import org.sparkkinesis.spark.connection.{Environment, OptionEffects}
import org.sparkkinesis.spark.error.StatementException
import org.sparkkinesis.spark.metadata.{MetadataSource, MetadataWatcher}
import org.sparkkinesis.spark.read.batch.{BatchPieces, NumberPositions, RangeSamples, SizeEstimate}
import org.sparkkinesis.spark.read.query.FirstRecords
import org.sparkkinesis.spark.read.reader.{KinesisInputPartition, KinesisReaderFactory}
import org.sparkkinesis.spark.session.{InitialOffsets, QueryPositions, StreamSession}
import org.sparkkinesis.spark.settings.ReadSettings

/**
 * A bounded read: each shard from the starting to the ending position. Planning fixes both ends; all reads of a stream
 * in one execution end at the same time.
 *
 * @param condition
 *   what the query requires of the rows; what it excludes need not be read
 * @param limit
 *   number of rows that the query needs of each task
 */
final class KinesisBatch(
    options: Options,
    schema: StructType,
    condition: RowCondition = RowCondition.Always,
    limit: Option[Int] = None
) extends Batch {
  import KinesisBatch._

  private lazy val planned: Planned = StatementException.raised {
    val session = new StreamSession(options, KinesisScan.queryOf(options))
    try {
      OptionEffects.reportRead(options, QueryType.Batch, session.events)
      val streamIds = if (session.isLogical) openLogical(session) else Map.empty[String, String]
      if (!session.isLogical) session.openMatching()
      val now = session.serviceClock.atMost
      val starts = new QueryPositions(session, ReadOptions.initialPosition, StartingPosition.TrimHorizon)
      val ends = new QueryPositions(session, ReadOptions.endingPosition, StartingPosition.Latest)
      Seq(starts, ends).foreach(_.checkNames())
      val execution = ExecutionEnds.current(SparkSession.active.sparkContext)
      val found = session.streams.values.toVector.flatMap { stream =>
        val from = starts.of(stream.arn, now)
        val ending = ends.of(stream.arn, now)
        val to = InitialOffsets.pin(ending, ExecutionEnds.ofJvm.of(execution, stream.arn, now))
        checkIsPast(ReadOptions.initialPosition, from, now)
        checkIsPast(ReadOptions.endingPosition, ending, now)
        val all = session.shards.withParents(stream.arn)
        Seq(from, to).foreach(InitialShards.checkNames(stream.name, _, all))
        if (isLatest(from)) session.events.emit(BatchFromLatest(stream.name))
        all.flatMap(shard => range(stream.arn, stream.name, shard, from, to).map(shard -> _))
      }
      val oldest = session.streams.keysIterator.map(arn => arn -> session.oldestMillis(arn)).toMap
      val pruned = found.flatMap { case (shard, range) => prune(condition, shard, range, oldest, now) }
      val ranges = NumberPositions.of(pruned, client(session.settings)).map(_.copy(maxRecords = limit.map(_.toLong)))
      Planned(
        session.settings,
        new FirstRecords(session, Environment.OfJvm).of(ranges, now),
        found.map { case (shard, range) => range.shard -> shard }.toMap,
        streamIds,
        oldest,
        now
      )
    } finally session.close()
  }

  /** Opens the streams that the metadata service names now. Returns the logical stream of each by its ARN. */
  private def openLogical(session: StreamSession): Map[String, String] = {
    val conf = SparkSession.active.sessionState.newHadoopConf()
    val service = MetadataSource.open(options, conf, session.events)
    val ids = MetadataSource.ids(options)
    val watcher = new MetadataWatcher(service, ids, options, Environment.OfJvm, session.events, None)(_ => ())
    val document =
      try watcher.awaitFirst()
      finally watcher.close()
    val allowed = AllowList.of(options)
    document.physical.values.filter(_.state != StreamState.Standby).foreach(stream =>
      session.open(stream, allowed.mustBeOwn(stream))
    )
    document.idOf
  }

  private lazy val samples = new RangeSamples(client(planned.settings))

  /** The size of the read, if it can be planned. A read that cannot fails when it is executed. */
  lazy val size: Option[SizeEstimate] = Try(planned).toOption.map { read =>
    SizeEstimate.of(read.ranges, samples, read.oldestMillis, read.now)
  }

  override def planInputPartitions(): Array[InputPartition] = partitions(planned.ranges)

  /** Returns this read without what a condition excludes that is known only when the query runs. */
  def filtered(runtime: RowCondition): Batch = new Batch {
    override def planInputPartitions(): Array[InputPartition] = partitions(
      planned.ranges.flatMap { range =>
        prune(runtime, planned.shards(range.shard), range, planned.oldestMillis, planned.now).map(_.range)
      }
    )
    override def createReaderFactory(): PartitionReaderFactory = KinesisBatch.this.createReaderFactory()
  }

  private def partitions(ranges: Seq[ShardRange]): Array[InputPartition] = {
    val slots = SparkSession.active.sparkContext.defaultParallelism
    val perTask = options.get(ReadOptions.shardsPerTask).map(_.toInt)
    val pieces =
      if (perTask.nonEmpty || limit.nonEmpty) ranges
      else {
        val read = planned
        BatchPieces.of(ranges, read.settings, read.oldestMillis, read.now, slots, samples, Environment.OfJvm)
      }
    val piecesPerTask = if (pieces.size > ranges.size) Some(1) else perTask
    TaskPlanner
      .tasks(pieces, _ => None, piecesPerTask, slots)
      .map(task => KinesisInputPartition(task.ranges, Array.empty, planned.streamIds))
      .toArray
  }

  override def createReaderFactory(): PartitionReaderFactory = new KinesisReaderFactory(None, planned.settings, schema)
}

private object KinesisBatch {

  /**
   * @param shards
   *   the shards of the streams as they were listed
   * @param streamIds
   *   the logical stream of each physical one by its ARN
   * @param oldestMillis
   *   when the oldest record of each stream may have arrived, by ARN
   * @param now
   *   the service's time when the read was planned
   */
  final case class Planned(
      settings: ReadSettings,
      ranges: Seq[ShardRange],
      shards: Map[StreamShard, Shard],
      streamIds: Map[String, String],
      oldestMillis: Map[String, Long],
      now: Long
  )

  def client(settings: ReadSettings)(arn: String): ServiceLease[KinesisService] =
    Environment.OfJvm.client(settings.client(arn))

  /** Returns the part of a range that may have rows which meet a condition, if there is one. */
  def prune(
      condition: RowCondition,
      shard: Shard,
      range: ShardRange,
      oldestMillis: Map[String, Long],
      nowMillis: Long
  ): Option[PrunedRange] = condition.of(range.stream, shard)
    .flatMap(RangePruner(range, _, oldestMillis(range.shard.stream), nowMillis))

  /** Whether a read from this position has nothing to read. */
  def isLatest(from: PositionOption): Boolean =
    from.default == StartingPosition.Latest && from.shards.values.forall(_ == StartingPosition.Latest)

  /**
   * Checks that a position is not in the future: a read to such an end would wait until then, and a read from such a
   * start has nothing to read.
   *
   * @throws org.sparkkinesis.error.KinesisConnectorException
   *   KINESIS_OPTION_INVALID
   */
  def checkIsPast(entry: ConfigEntry[_], position: PositionOption, nowMillis: Long): Unit =
    (position.default +: position.shards.values.toSeq).collectFirst {
      case StartingPosition.AtTimestamp(millis) if millis > nowMillis => Instant.ofEpochMilli(millis)
    }.foreach { future =>
      throw OptionErrors.invalid(
        value = future.toString,
        option = entry.key,
        reason = s"The time is in the future: the service's time is ${Instant.ofEpochMilli(nowMillis)}. " +
          "A batch read contains records that have arrived.",
        expected = "'latest', or a time that has passed"
      )
    }

  /**
   * Returns the range of one shard, or `None` when the positions leave nothing to read. A shard that is read from
   * `latest` has nothing to read, because the read ends with records that have arrived.
   */
  def range(arn: String, name: String, shard: Shard, from: PositionOption, to: PositionOption): Option[ShardRange] = {
    val start = from.of(shard.id)
    val end = to.of(shard.id) match {
      case StartingPosition.AtTimestamp(millis) => Some(RangeEnd.ArrivedBy(millis))
      case StartingPosition.AtSequenceNumber(number) => Some(RangeEnd.At(number))
      case StartingPosition.AfterSequenceNumber(number) => Some(RangeEnd.At(number))
      case _ => None
    }
    end.filterNot(_ => start == StartingPosition.Latest)
      .map(ShardRange(StreamShard(arn, shard.id), name, start, _, Some(shard.hashKeyRange)))
  }
}
