package org.sparkkinesis.spark.read.realtime

import scala.collection.mutable

import org.sparkkinesis.model.StreamShard
import org.sparkkinesis.plan.offset.{IdleTime, ShardPosition, SourceOffset}
import org.sparkkinesis.spark.coordinator.state.Overtaken
import org.sparkkinesis.spark.protocol.{Report, ShardReport}

/**
 * Finds the times of a batch that begins at the oldest record of some shards. Until the batch is committed, only they
 * show, after a restart, that records which the query wanted have expired. They are known when every such shard was
 * looked at: from its first record or, if it has none, from the time at which it was read to its tip. Before the first
 * look at a query's shards nothing is read, so a restart begins at the record that is the oldest then.
 *
 * The known time of a child shard may be much older than the shard, because it is that of its parents. The look
 * replaces it too, unless it was so late that records may have expired before it: these are still to be reported.
 *
 * State without I/O. Thread-safe.
 *
 * @param latestMillis
 *   returns a time, in epoch milliseconds, that is not earlier than the service's current time; it may be too late
 *   until the service confirms it
 */
final private[realtime] class FirstLook(latestMillis: () => Long) {
  private var (key, from) = (SourceOffset(Nil), SourceOffset(Nil))
  private var openMillis: StreamShard => Option[Long] = Function.const(None)

  /** The shards to look at, with their known times. */
  private var unread = Map.empty[StreamShard, Option[Long]]
  private val times = mutable.HashMap.empty[StreamShard, Long]

  /** The number of the last report of each instance of an executor. */
  private val numbers = mutable.HashMap.empty[(String, Long), Long]

  /** Whether a report was lost, which may have had the first record of a shard. */
  private var isDoubtful = false
  private var found = FirstLook.Everything

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
    unread = FirstLook.unread(start)
    // Each task reports its first record again, so what a lost report had is not missing any more.
    times.filterInPlace((shard, _) => unread.contains(shard) && !isDoubtful)
    isDoubtful = false
    found = if (unread.isEmpty) FirstLook.Everything else FirstLook.NoTimes
    completed()
  }

  /**
   * Records a report. Returns the start of the batch with the times with the report that completes them: once when
   * every shard has one, and once when every shard was looked at.
   */
  def accept(report: Report): Option[FirstLook.Found] = synchronized {
    val executor = (report.executorId, report.instance)
    isDoubtful ||= report.number != numbers.getOrElse(executor, 0L) + 1
    numbers(executor) = report.number
    report.shards.filter(told => unread.contains(told.shard)).foreach(look)
    completed()
  }

  /** Whether a result is that of the current batch. */
  def isCurrent(found: FirstLook.Found): Boolean = synchronized(found.stored == key)

  private def look(told: ShardReport): Unit = {
    val first = told.chunks.headOption.map(_.firstArrivalMillis)
    val tip = openMillis(told.shard).filter(_ => told.readUpToMillis > 0)
      .map(open => math.max(0, math.min(open, told.readUpToMillis) - IdleTime.Margin))
    val known = unread(told.shard)
    val late = known.filter(millis => Overtaken(told.shard, millis, latestMillis() - millis).exceedsShortestRetention)
    val seen = if (first.isEmpty && tip.isEmpty) None else late.orElse((first ++ tip).minOption)
    (seen ++ times.get(told.shard)).minOption.foreach(times(told.shard) = _)
  }

  private def completed(): Option[FirstLook.Found] = {
    val now =
      if (isDoubtful) FirstLook.NoTimes
      else if (times.size == unread.size) FirstLook.Everything
      else if (unread.forall { case (shard, known) => known.nonEmpty || times.contains(shard) }) FirstLook.Untimed
      else FirstLook.NoTimes
    // What has times from the start needs no result of its own.
    val isNews = now > found && (now == FirstLook.Everything || unread.exists(_._2.isEmpty))
    if (isNews) found = now
    Option.when(isNews)(FirstLook.Found(key, timed))
  }

  private def timed: SourceOffset = from.copy(streams = from.streams.map { case (arn, stream) =>
    val seen = times.collect { case (StreamShard(`arn`, shard), at) =>
      shard -> stream.since.get(shard).fold(at)(math.max(at, _))
    }
    arn -> stream.copy(since = stream.since ++ seen)
  })
}

private[realtime] object FirstLook {

  /** The start of a batch as the checkpoint has it, and the same position with the times. */
  final case class Found(stored: SourceOffset, timed: SourceOffset)

  /** What was found: nothing, times for the shards without one, or times of a look at each shard. */
  private val NoTimes = 0
  private val Untimed = 1
  private val Everything = 2

  /** Returns the shards of which no record was read and whose position is no time, with the times that are known. */
  private def unread(offset: SourceOffset): Map[StreamShard, Option[Long]] = offset.read.flatMap { stream =>
    stream.shards.iterator.collect {
      case (shard, start: ShardPosition.Start) if IdleTime.of(start).isEmpty =>
        StreamShard(stream.arn, shard) -> stream.since.get(shard)
    }
  }.toMap
}
