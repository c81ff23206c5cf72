package org.sparkkinesis.spark.read.realtime

import scala.collection.mutable

import org.sparkkinesis.model.StreamShard
import org.sparkkinesis.plan.offset.{IdleTime, ShardPosition, SourceOffset}
import org.sparkkinesis.spark.protocol.{Report, ShardReport}

/**
 * Finds the times of a batch that begins at the oldest record of some shards. Until the batch is committed, only they
 * show, after a restart, that records which the query wanted have expired. They are known when every such shard was
 * looked at: from its first record or, if it has none, from the time at which it was read to its tip. Before the first
 * look at a query's shards nothing is read, so a restart begins at the record that is the oldest then.
 *
 * State without I/O. Thread-safe.
 */
final private[realtime] class FirstLook {
  private var (key, from) = (SourceOffset(Nil), SourceOffset(Nil))
  private var openMillis: StreamShard => Option[Long] = _ => None
  private var untimed = Set.empty[StreamShard]
  private val times = mutable.HashMap.empty[StreamShard, Long]

  /** The number of the last report of each instance of an executor. */
  private val numbers = mutable.HashMap.empty[(String, Long), Long]

  /** Whether a report was lost, which may have had the first record of a shard. */
  private var isDoubtful = false
  private var isOver = true

  /**
   * Begins a batch. Returns its start with the times, if earlier batches of this run have looked at its shards.
   *
   * @param stored
   *   the start of the batch as the checkpoint has it, which is returned with each result
   * @param start
   *   the start of the batch
   * @param openMillis
   *   a time of the service at which a shard was open, in epoch milliseconds, if there is one. The records of the
   *   children of a closed shard may be older than the time at which the shard was read to its tip.
   */
  def begin(
      stored: SourceOffset,
      start: SourceOffset,
      openMillis: StreamShard => Option[Long]
  ): Option[FirstLook.Found] = synchronized {
    key = stored
    from = start
    this.openMillis = openMillis
    untimed = FirstLook.untimed(start)
    // Each task reports its first record again, so what a lost report had is not missing any more.
    times.filterInPlace((shard, _) => untimed(shard) && !isDoubtful)
    isDoubtful = false
    isOver = untimed.isEmpty
    found()
  }

  /** Records a report. Returns the start of the batch with the times, once, with the report that completes them. */
  def accept(report: Report): Option[FirstLook.Found] = synchronized {
    val executor = (report.executorId, report.instance)
    isDoubtful ||= report.number != numbers.getOrElse(executor, 0L) + 1
    numbers(executor) = report.number
    report.shards.filter(told => untimed(told.shard)).foreach(look)
    found()
  }

  /** Whether a result is that of the current batch. */
  def isCurrent(found: FirstLook.Found): Boolean = synchronized(found.stored == key)

  private def look(told: ShardReport): Unit = {
    val first = told.chunks.headOption.map(_.firstArrivalMillis)
    val tip = openMillis(told.shard).filter(_ => told.readUpToMillis > 0)
      .map(open => math.max(0, math.min(open, told.readUpToMillis) - IdleTime.Margin))
    (first ++ tip ++ times.get(told.shard)).minOption.foreach(times(told.shard) = _)
  }

  private def found(): Option[FirstLook.Found] = Option.when(!isOver && !isDoubtful && times.size == untimed.size) {
    isOver = true
    val timed = from.copy(streams = from.streams.map { case (arn, stream) =>
      arn -> stream.copy(since = stream.since ++ times.collect { case (StreamShard(`arn`, shard), at) => shard -> at })
    })
    FirstLook.Found(key, timed)
  }
}

private[realtime] object FirstLook {

  /** The start of a batch as the checkpoint has it, and the same position with the times. */
  final case class Found(stored: SourceOffset, timed: SourceOffset)

  def untimed(offset: SourceOffset): Set[StreamShard] = offset.read.flatMap { stream =>
    stream.shards.collect {
      case (shard, _: ShardPosition.Start) if stream.readUntil(shard).isEmpty => StreamShard(stream.arn, shard)
    }
  }.toSet
}
