package org.sparkkinesis.metric

import org.sparkkinesis.config.value.ConsumerMode
import org.sparkkinesis.event.{ConsumerHealth, ThrottledCalls}
import org.sparkkinesis.model.{StreamRef, StreamShard}

/**
 * The figures of one source at a moment, from which its gauges and log lines are made.
 *
 * @param shards
 *   the shards with something to read
 * @param openShards
 *   number of open shards by the ARN of their stream
 * @param fetchedMillisBehind
 *   how far fetching of the worst open shard is behind, in milliseconds, by the ARN of its stream
 * @param retentionMillis
 *   retention period in milliseconds by the ARN of the stream
 * @param totals
 *   counters of all consumers since the query started, and the bytes in their buffers now
 * @param shardsByExecutor
 *   number of shards that each executor reads
 * @param health
 *   state of the consumers by executor
 * @param batch
 *   the last batch, if one was planned in this run
 */
final case class SourceFigures(
    mode: ConsumerMode,
    shards: Seq[ShardFigures] = Nil,
    openShards: Map[String, Int] = Map.empty,
    fetchedMillisBehind: Map[String, Long] = Map.empty,
    retentionMillis: Map[String, Long] = Map.empty,
    totals: Map[String, Long] = Map.empty,
    shardsByExecutor: Map[String, Int] = Map.empty,
    health: Map[String, ConsumerHealth] = Map.empty,
    batch: Option[BatchFigures] = None,
    isRealTime: Boolean = false
) {

  /** The consumer mode, and whether the query uses real-time mode. */
  def modeText: String = if (isRealTime) s"$mode, real time" else mode.word

  /** Whether the consumers use enhanced fan-out, which is billed by shards, hours and bytes. */
  def isFanOut: Boolean = mode == ConsumerMode.FanOut

  def streams: Seq[String] =
    (openShards.keySet ++ fetchedMillisBehind.keySet ++ shards.map(_.shard.stream)).toSeq.sorted

  /** The shards that are behind, the worst first. */
  def worst: Seq[ShardFigures] = ShardFigures.worst(shards)

  /** Returns how far the query is behind in a stream: the greatest value of its shards. */
  def millisBehind(stream: String): Long = maxOf(shards.filter(_.shard.stream == stream).map(_.millisBehind))

  /** Returns the time until the oldest unread record of a stream expires; `None` if its retention is not known. */
  def expiresInMillis(stream: String): Option[Long] =
    retentionMillis.get(stream).map(kept => math.max(0, kept - millisBehind(stream)))

  def expiresInMillis: Option[Long] = streams.flatMap(expiresInMillis(_)).minOption

  /** Sums the throttled calls of all executors, the greatest number first. */
  def throttled: Seq[ThrottledCalls] =
    health.valuesIterator.flatMap(_.throttled).toVector
      .groupMapReduce(one => (one.stream, one.shard, one.operation))(_.calls)(_ + _).toVector
      .map { case ((stream, shard, operation), calls) => ThrottledCalls(stream, shard, operation, calls) }
      .sortBy(one => (-one.calls, one.stream, one.shard.fold("")(_.value)))

  /** Returns the executor with the most throttled calls of this kind. */
  def executorOf(calls: ThrottledCalls): Option[String] = health.toSeq.flatMap { case (id, of) =>
    of.throttled.filter(one => one.copy(calls = calls.calls) == calls).map(one => id -> one.calls)
  }.maxByOption(_._2).map(_._1)

  /** The size of all prefetch buffers in bytes. */
  def bufferBytes: Long = health.valuesIterator.map(_.bufferBytes).sum
  def bufferedBytes: Long = totals.getOrElse("bufferedBytes", 0L)
  def pollingSlowdown: Double = health.valuesIterator.map(_.pollingSlowdown).foldLeft(1.0)(math.max)

  /** Returns how long the calls of a stream have failed, in the executor where that is longest; 0 if none fail. */
  def outageMillis(stream: String): Long =
    maxOf(health.valuesIterator.flatMap(_.outages).filter(_.stream == stream).map(_.millis))

  private def maxOf(values: IterableOnce[Long]): Long = values.iterator.foldLeft(0L)(math.max)
}

/**
 * @param millisBehind
 *   how far the query is behind, in milliseconds
 * @param owner
 *   id of the executor that reads the shard
 */
final case class ShardFigures(
    shard: StreamShard,
    millisBehind: Long,
    owner: Option[String] = None,
    rowsPerSecond: Double = 0,
    bytesPerSecond: Double = 0
) {

  /** Names stream and shard, without the ARN. */
  def name: String = s"${SourceFigures.nameOf(shard.stream)} ${shard.shard.value}"
}

object ShardFigures {

  /** Returns the shards that are behind, the worst first. */
  def worst(shards: Seq[ShardFigures]): Seq[ShardFigures] = shards.filter(_.millisBehind > 0).sortBy(-_.millisBehind)
}

/**
 * @param number
 *   number of batches that were planned in this run
 * @param isRunning
 *   whether the batch has not ended yet; false in real-time mode, where a batch takes the time of its trigger
 * @param millis
 *   time since the batch was planned, in milliseconds
 */
final case class BatchFigures(number: Long, rows: Long, bytes: Long, isRunning: Boolean, millis: Long)

object SourceFigures {

  /** Returns the name of the stream with this name or ARN. */
  def nameOf(stream: String): String = StreamRef.parse(stream).fold(stream)(_.name)
}
