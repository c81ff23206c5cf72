package org.sparkkinesis.event

import java.time.Instant

import org.sparkkinesis.event.EventText.{count, duration, positions, seconds}
import org.sparkkinesis.model.{ShardId, StartingPosition}

/** Events of a query as a whole, and of its offsets. */
sealed abstract class QueryEvent extends ConnectorEvent(EventSubject.Query)

/**
 * A query starts reading a stream.
 *
 * @param connector
 *   version of the connector
 * @param isResumed
 *   whether the positions come from a checkpoint
 * @param shards
 *   start position of each shard; empty for a finished shard
 */
final case class QueryStarted(
    connector: String,
    streamName: String,
    consumerMode: String,
    isResumed: Boolean,
    shards: Seq[(ShardId, Option[StartingPosition])]
) extends QueryEvent {
  override def level: EventLevel = EventLevel.Info
  override def stream: Option[String] = Some(streamName)
  override def message: String = {
    val how = if (isResumed) "resumed from its checkpoint" else "started from its initial offsets"
    s"Query $how in consumer mode '$consumerMode' with spark-kinesis $connector, " +
      s"${count(shards.size.toLong, "shard")}: ${positions(shards)}"
  }
}

/** Spark stopped the source, because the query ended, failed or was stopped. */
final case class QueryStopped(batches: Long, rows: Long, runMillis: Long) extends QueryEvent {
  override def level: EventLevel = EventLevel.Info
  override def stream: Option[String] = None
  override def message: String = s"Source stopped after ${seconds(runMillis)}: ${count(rows, "row")} in " +
    s"${count(batches, "micro-batch", "micro-batches")} planned in this run"
}

/** A batch read starts at `latest`, where no record has arrived yet. */
final case class BatchFromLatest(streamName: String) extends QueryEvent {
  override def level: EventLevel = EventLevel.Warn
  override def stream: Option[String] = Some(streamName)
  override def message: String = "A batch read from 'latest' has no rows, because it ends with the records that have " +
    "arrived. To read these, set 'initialPosition' for this read, for example with SELECT … FROM t WITH " +
    "('initialPosition' = 'trim_horizon') or with spark.read.option(\"initialPosition\", \"trim_horizon\")"
}

/**
 * Summary of what a query has read since the last one, and of its state. Emitted on the driver, when the first batch
 * is planned and then every five minutes, also while a batch does not end.
 *
 * @param bytes
 *   payload and key bytes of the fetched records
 * @param millis
 *   time that the summary covers
 * @param behindMillis
 *   how far the worst shard is behind
 * @param expiresInMillis
 *   time until the oldest unread record expires
 * @param pollingSlowdown
 *   factor by which polling is slower than the quota allows
 * @param mostThrottled
 *   the operation, shard and executor with the most throttled calls
 * @param runningMillis
 *   time since the running batch was planned; empty if none is running
 */
final case class ReadSummary(
    batches: Long,
    rows: Long,
    bytes: Long,
    millis: Long,
    consumerMode: String,
    shards: Int,
    executors: Int,
    behindMillis: Long,
    worstShard: Option[String],
    expiresInMillis: Option[Long],
    bufferedBytes: Long,
    bufferBytes: Long,
    pollingSlowdown: Double,
    throttled: Long,
    retried: Long,
    mostThrottled: Option[String],
    runningMillis: Option[Long]
) extends QueryEvent {
  override def level: EventLevel = EventLevel.Info
  override def stream: Option[String] = None
  override def message: String = {
    val perSecond = 1000.0 / math.max(1, millis)
    val rates = EventText.number(rows * perSecond) + " rows/s, " + EventText.bytes((bytes * perSecond).toLong) + "/s"
    val running = runningMillis.fold("")(time => s", the last one runs since ${duration(time)}")
    val lag = worstShard.fold("no shard is behind")(shard => s"${duration(behindMillis)} behind in $shard")
    val expiry = expiresInMillis.fold("")(left => s"; unread records expire in ${duration(left)}")
    val pace = if (pollingSlowdown > 1) s" ${EventText.number(pollingSlowdown)} times slower than its quota" else ""
    val throttling = s"$throttled throttled" + mostThrottled.fold("")(most => s" (most: $most)")
    s"${count(batches, "micro-batch", "micro-batches")} planned in ${duration(millis)}$running; " +
      s"${count(rows, "row")} fetched ($rates); $lag$expiry; ${count(shards.toLong, "shard")} on " +
      s"${count(executors.toLong, "executor")}, '$consumerMode'$pace; buffer ${EventText.bytes(bufferedBytes)} of " +
      s"${EventText.bytes(bufferBytes)}; calls: $throttling, $retried retried"
  }
}

final case class BatchPlanned(rows: Long, bytes: Long, planningMicros: Long) extends QueryEvent {
  override def level: EventLevel = EventLevel.Debug
  override def stream: Option[String] = None
  override def message: String =
    s"Micro-batch of ${count(rows, "row")} ($bytes bytes) planned in $planningMicros microseconds"
}

/** The read positions of idle shards could not be stored beside the checkpoint when the query stopped. */
final case class PositionNotStored(failure: Throwable) extends QueryEvent {
  override def level: EventLevel = EventLevel.Warn
  override def stream: Option[String] = None
  override def cause: Option[Throwable] = Some(failure)
  override def message: String = "The read positions of idle shards could not be stored beside the checkpoint. The " +
    "next run continues from the last batch"
}

/** Tasks of a real-time batch did not report how far they read some shards. */
final case class ShardsNotReported(shards: Int) extends QueryEvent {
  override def level: EventLevel = EventLevel.Warn
  override def stream: Option[String] = None
  override def message: String =
    s"No task of the real-time batch reported ${EventText.count(shards.toLong, "shard")}, so the next batch reads " +
      "the same records again"
}

/** Tasks of a real-time batch read child shards within the batch. */
final case class ChildrenBegun(shards: Int) extends QueryEvent {
  override def level: EventLevel = EventLevel.Info
  override def stream: Option[String] = None
  override def message: String =
    s"The real-time batch read ${EventText.count(shards.toLong, "child shard")} of shards that it finished"
}

/** A real-time batch ends before its time, because a child shard has parents that several tasks have finished. */
final case class BatchEndedEarly(streamName: String, parent: ShardId) extends QueryEvent {
  override def level: EventLevel = EventLevel.Info
  override def stream: Option[String] = Some(streamName)
  override def shard: Option[ShardId] = Some(parent)
  override def message: String = "The real-time batch ends early: several tasks have finished the parents of a child " +
    "shard, which the next batch reads"
}

/** Records that the query had not read no longer exist. */
final case class DataLost(streamName: String, lostIn: ShardId, reason: String, endsQuery: Boolean) extends QueryEvent {
  override def level: EventLevel = EventLevel.Warn
  override def stream: Option[String] = Some(streamName)
  override def shard: Option[ShardId] = Some(lostIn)
  override def limitKey: Any = (getClass, stream, shard)
  override def message: String = s"Records were lost: $reason. ${QueryEvent.continuation(endsQuery)}"
}

/** A running query that is more than 24 hours behind could not read the retention period of its stream. */
final case class RetentionNotRead(streamName: String, failure: Throwable) extends QueryEvent {
  override def level: EventLevel = EventLevel.Warn
  override def stream: Option[String] = Some(streamName)
  override def cause: Option[Throwable] = Some(failure)
  override def message: String = "The retention period could not be read. The query is more than 24 hours behind; " +
    "whether records have expired unread is checked later"
}

/**
 * The service's time is not known, or this process's clock moved more than its running time, and the service's time
 * could not be requested.
 */
final case class ServiceTimeNotRead(streamName: String, failure: Throwable) extends QueryEvent {
  override def level: EventLevel = EventLevel.Warn
  override def stream: Option[String] = Some(streamName)
  override def cause: Option[Throwable] = Some(failure)
  override def message: String = "The service's time could not be read. It is needed when a query starts, and after " +
    "the machine was suspended or its clock was changed. It is requested again at the next attempt"
}

/**
 * A batch read, or a batch of an earlier run, does not know when the first records of some shards arrived, which may
 * expire before they are read.
 */
final case class FirstRecordsUnknown(streamName: String, unknown: Seq[ShardId]) extends QueryEvent {
  override def level: EventLevel = EventLevel.Warn
  override def stream: Option[String] = Some(streamName)
  override def message: String =
    s"The first records of ${EventText.count(unknown.size.toLong, "shard")} could not be read in time: " +
      s"${EventText.shards(unknown)}. If they expire before a task reads them, that is not reported"
}

/** The stream of the checkpoint was deleted, and a new stream has its name. */
final case class StreamRecreated(streamName: String, wasMillis: Long, isMillis: Long, endsQuery: Boolean)
    extends QueryEvent {
  override def level: EventLevel = EventLevel.Warn
  override def stream: Option[String] = Some(streamName)
  override def message: String =
    s"The stream was deleted and recreated: the checkpoint is of the stream created at " +
      s"${Instant.ofEpochMilli(wasMillis)}, the present one was created at ${Instant.ofEpochMilli(isMillis)}. " +
      QueryEvent.continuation(endsQuery)
}

/** A consumer cannot continue reading a shard. The query fails with this error. */
final case class ReadFailed(streamName: String, failed: ShardId, reason: String) extends QueryEvent {
  override def level: EventLevel = EventLevel.Warn
  override def stream: Option[String] = Some(streamName)
  override def shard: Option[ShardId] = Some(failed)
  override def message: String = s"The shard cannot be read, so the query fails: $reason"
}

/** An option has a deprecated name or value. */
final case class OptionDeprecated(warning: String) extends QueryEvent {
  override def level: EventLevel = EventLevel.Warn
  override def stream: Option[String] = None
  override def limitKey: Any = this
  override def message: String = warning
}

/** An option is set and has no effect. */
final case class OptionWithoutEffect(warning: String) extends QueryEvent {
  override def level: EventLevel = EventLevel.Warn
  override def stream: Option[String] = None
  override def limitKey: Any = this
  override def message: String = warning
}

/** An executor's heap is too small for the buffer that an option asks for. */
final case class FetchBufferReduced(wanted: Long, granted: Long) extends QueryEvent {
  override def level: EventLevel = EventLevel.Warn
  override def stream: Option[String] = None
  override def message: String =
    s"fetchBufferSize is $wanted bytes of memory in each executor, and this executor gives it $granted bytes, half " +
      "of its heap. In Databricks the option is for a whole cluster"
}

/** The memory for fetched records is full for the first time, and further records are written to local files. */
final case class SpillStarted(limitBytes: Long) extends QueryEvent {
  override def level: EventLevel = EventLevel.Info
  override def stream: Option[String] = None
  override def message: String =
    s"fetched records fill the memory of fetchBufferSize. This executor keeps further ones in local files of at most " +
      s"$limitBytes bytes, or half of the free space, until a batch has read them"
}

/** Fetched records could not be written to a local file. */
final case class SpillFailed(reason: String, pauseMillis: Long) extends QueryEvent {
  override def level: EventLevel = EventLevel.Warn
  override def stream: Option[String] = None
  override def message: String =
    s"fetched records cannot be written to a local file: $reason. Nothing is lost, but this executor fetches only " +
      s"what its memory can hold until it tries again in $pauseMillis ms. Check the disks of spark.local.dir, or set " +
      "fetchDiskSize to 0"
}

/** An option contains a secret where Spark shows or stores it. */
final case class SecretInClearText(warning: String) extends QueryEvent {
  override def level: EventLevel = EventLevel.Warn
  override def stream: Option[String] = None
  override def limitKey: Any = this
  override def message: String = warning
}

private object QueryEvent {
  def continuation(endsQuery: Boolean): String =
    if (endsQuery) "The query fails, because failOnDataLoss is true"
    else "The query continues with the oldest record that is left, because failOnDataLoss is false"
}
