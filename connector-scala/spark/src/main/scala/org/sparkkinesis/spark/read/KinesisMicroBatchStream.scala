package org.sparkkinesis.spark.read

import java.util.{Collections, Optional, UUID}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.read.streaming._
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReaderFactory}
import org.apache.spark.sql.types.StructType

import org.sparkkinesis.config.{PositionOption, ReadOptions}
import org.sparkkinesis.consume.{MissingResource, RangeEnd}
import org.sparkkinesis.model.StartingPosition
import org.sparkkinesis.plan._
import org.sparkkinesis.spark.connection.ServiceFailure
import org.sparkkinesis.spark.coordinator.{PrefetchView, ShardCoordinator, ShardFailed}
import org.sparkkinesis.spark.read.reader.{KinesisInputPartition, KinesisReaderFactory}
import org.sparkkinesis.spark.session.{
  CheckpointCheck, FanOutConsumers, InitialOffsetStore, RegisteredConsumers, StreamSession
}
import org.sparkkinesis.spark.settings.{KinesisReadLimit, ReadSettings}

/** An offset as Spark keeps it. */
final case class KinesisSourceOffset(value: SourceOffset) extends Offset {
  override lazy val json: String = OffsetCodec.encode(value)
}

/**
 * The source of a streaming query. Spark calls it from the query's thread.
 *
 * Consumers in the executors fetch ahead; a batch is planned from what they report, as an exact range for each shard.
 */
final class KinesisMicroBatchStream(session: StreamSession, checkpointLocation: String, schema: StructType)
    extends MicroBatchStream
    with SupportsAdmissionControl
    with SupportsTriggerAvailableNow
    with ReportsSourceMetrics {
  import KinesisMicroBatchStream._

  private val options = session.options
  private val spark = SparkSession.active
  private val hadoopConf = spark.sessionState.newHadoopConf()
  private val sourceId = UUID.randomUUID().toString
  private val admission = KinesisReadLimit(options)
  private var target: Option[AvailableNowTarget] = None

  /** The consumers have told, of every shard, what was there when the query began. */
  private var hasLooked = false
  private lazy val atBegin = AvailableNowTarget(System.currentTimeMillis())
  private var lastBatchNanos = System.nanoTime()
  private var planned: Option[PlannedBatch] = None
  private var planningNanos = 0L

  /** The newest first. Spark has the texts of the last two read again with every trigger, and of thousands of shards that takes long. */
  private var recent = Vector.empty[KinesisSourceOffset]
  private val checkpoint = new CheckpointCheck(session)
  private var coordinatorIfStarted: Option[ShardCoordinator] = None

  private val fanOut = Option.when(FanOutConsumers.isWanted(options))(
    session.fanOutConsumers(new RegisteredConsumers(checkpointLocation, _, hadoopConf))
  )
  if (options(ReadOptions.registration) == "eager") fanOut.foreach(_.ensure(session.streams.values))

  /** With the consumers that are registered now, when the query starts, unless they were before. */
  private lazy val settings: ReadSettings = session.settings.copy(fanOut = fanOut.map(_.ensure(session.streams.values)))

  private lazy val coordinator: ShardCoordinator = {
    val started = new ShardCoordinator(
      spark.sparkContext,
      sourceId,
      settings,
      session.streams.keys.toSeq,
      session.listShards(_),
      options(ReadOptions.shardFetchInterval).toMillis
    )
    coordinatorIfStarted = Some(started)
    started
  }

  private def prefetched: PrefetchView = coordinator.prefetched

  private def position: PositionOption =
    options.get(ReadOptions.initialPosition).getOrElse(PositionOption(StartingPosition.Latest))

  private lazy val initial: SourceOffset = {
    val store = new InitialOffsetStore(checkpointLocation, hadoopConf)
    checkpoint.mend(store.getOrElseUpdate(session.initialOffset(position, System.currentTimeMillis())))
  }

  /** Asked for again with every trigger, until the first batch. */
  override def initialOffset(): Offset = KinesisSourceOffset(initial)

  override def getDefaultReadLimit: ReadLimit = admission

  override def prepareForTriggerAvailableNow(): Unit = target = Some(AvailableNowTarget(System.currentTimeMillis()))

  override def latestOffset(): Offset =
    throw new UnsupportedOperationException("latestOffset(Offset, ReadLimit) is the one to call")

  override def latestOffset(start: Offset, limit: ReadLimit): Offset = explained {
    val from = offset(start)
    // A time that the user chose may lie before the oldest record; one that the query noted itself may not.
    if (recent.nonEmpty || position.default == StartingPosition.Latest) checkpoint.warnOfExpired(from)
    coordinator.advance(from)
    val next = limit match {
      case _: ReadAllAvailable => planOnce(from)
      case _ => target.fold(planNow(from))(planUntil(from, _, admission.limits))
    }
    planned = next
    next match {
      case Some(batch) =>
        lastBatchNanos = System.nanoTime()
        remember(KinesisSourceOffset(batch.end))
      // Not `start`: Spark would run the first batch of a query for it, without a row.
      case None => null
    }
  }

  private def plan(from: SourceOffset, limits: ReadLimits, until: Option[AvailableNowTarget]): Option[PlannedBatch] = {
    val began = System.nanoTime()
    val batch = prefetched.plan(from, limits, until)
    if (batch.nonEmpty) planningNanos = System.nanoTime() - began
    batch
  }

  /**
   * A running trigger: what is there, or nothing yet. "Nothing" is not said before the consumers have looked at every shard: until then
   * it would be a guess, and `processAllAvailable` returns on it.
   */
  @scala.annotation.tailrec
  private def planNow(from: SourceOffset): Option[PlannedBatch] = {
    val seen = prefetched.changes
    hasLooked ||= prefetched.everythingIsFetched(atBegin)
    val sinceLast = (System.nanoTime() - lastBatchNanos) / 1000000
    val enough = admission.minimum.forall(_.isReached(prefetched.availableRows, sinceLast, prefetched.bufferIsFull))
    val batch = if (enough) plan(from, admission.limits, None) else None
    if (batch.nonEmpty || hasLooked) batch
    else {
      prefetched.awaitChange(seen, LongestWaitMillis)
      planNow(from)
    }
  }

  /** `Trigger.AvailableNow`: waits, since "nothing" would end the query. */
  @scala.annotation.tailrec
  private def planUntil(from: SourceOffset, until: AvailableNowTarget, limits: ReadLimits): Option[PlannedBatch] = {
    val seen = prefetched.changes
    val batch = plan(from, limits, Some(until))
    if (batch.nonEmpty || prefetched.isReached(until)) batch
    else {
      prefetched.awaitChange(seen, LongestWaitMillis)
      planUntil(from, until, limits)
    }
  }

  /** `Trigger.Once`: one batch for everything that is there, also when memory cannot hold it: tasks then read it from the service. */
  private def planOnce(from: SourceOffset): Option[PlannedBatch] = {
    val until = target.getOrElse(AvailableNowTarget(System.currentTimeMillis()))
    @scala.annotation.tailrec
    def untilFetched(): Option[PlannedBatch] = {
      val seen = prefetched.changes
      if (prefetched.everythingIsFetched(until)) plan(from, ReadLimits.Unlimited, Some(until))
      else {
        if (prefetched.bufferIsFull) prefetched.readAhead()
        prefetched.awaitChange(seen, LongestWaitMillis)
        untilFetched()
      }
    }
    untilFetched()
  }

  override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] = explained {
    val began = System.nanoTime()
    val (from, to) = (offset(start), offset(end))
    val ranges = TaskPlanner.ranges(
      from,
      to,
      shard => prefetched.lastOfEnded(shard).map(RangeEnd.At(_)),
      prefetched.hashKeyRange
    )
    val perTask = options.get(ReadOptions.shardsPerTask).map(_.toInt)
    val partitions = TaskPlanner
      .tasks(
        ranges,
        prefetched.location,
        perTask,
        spark.sparkContext.defaultParallelism
      )
      .map(task => KinesisInputPartition(task.ranges, task.owner.toArray))
      .toArray[InputPartition]
    planningNanos += System.nanoTime() - began
    partitions
  }

  override def createReaderFactory(): PartitionReaderFactory =
    new KinesisReaderFactory(Some(sourceId), session.settings, schema)

  override def deserializeOffset(json: String): Offset =
    recent.find(_.json == json).getOrElse(remember(KinesisSourceOffset(OffsetCodec.decode(json))))

  private def remember(offset: KinesisSourceOffset): KinesisSourceOffset = {
    recent = offset +: recent.take(1)
    offset
  }

  /** What was read is released when the next batch is planned. */
  override def commit(end: Offset): Unit = ()

  override def stop(): Unit = {
    coordinatorIfStarted.foreach(_.close())
    fanOut.foreach(_.close())
    session.close()
  }

  override def metrics(latestConsumed: Optional[Offset]): java.util.Map[String, String] =
    coordinatorIfStarted.fold(Collections.emptyMap[String, String]())(running =>
      SourceMetrics.of(
        running.prefetched.status(planned.map(_.end).orElse(recent.headOption.map(_.value)), System.currentTimeMillis()),
        planned,
        planningNanos
      ).asJava
    )

  private def offset(of: Offset): SourceOffset = checkpoint.mend(of match {
    case KinesisSourceOffset(value) => value
    case other => OffsetCodec.decode(other.json)
  })

  private def explained[A](body: => A): A =
    try body
    catch {
      case failed: ShardFailed if MissingResource.of(failed.error).contains(MissingResource.Shard) =>
        throw CheckpointCheck.shardIsGone(failed)
      case failed: ShardFailed if MissingResource.of(failed.error).contains(MissingResource.Consumer) =>
        throw FanOutConsumers.isGone(failed.error, failed.shard.stream, settings)
      case failed: ShardFailed =>
        throw ServiceFailure.explain(failed.error, failed.shard.toString, settings.client(failed.shard.stream))
    }
}

private object KinesisMicroBatchStream {

  /** A wait always ends by itself, so that what was missed for any reason is seen. */
  val LongestWaitMillis = 1000L
}
