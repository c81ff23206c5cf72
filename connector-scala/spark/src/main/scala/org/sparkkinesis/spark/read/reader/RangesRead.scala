package org.sparkkinesis.spark.read.reader

import scala.collection.BufferedIterator

import org.sparkkinesis.chunk.Chunk
import org.sparkkinesis.consume.RangeEnd
import org.sparkkinesis.consume.spill.{HeldChunk, SpillLost}
import org.sparkkinesis.event.ConsumerMetrics
import org.sparkkinesis.model.{SequenceNumber, StartingPosition}
import org.sparkkinesis.plan.ShardRange
import org.sparkkinesis.spark.connection.Environment
import org.sparkkinesis.spark.executor.ConsumerHosts
import org.sparkkinesis.spark.settings.ReadSettings

/**
 * Reads a task's ranges one after the other: from memory and local files if this executor holds a whole range, else
 * from the service. If a file is lost, the rest of its range is read from the service.
 *
 * For one thread, which blocks on service calls. The caller closes it if it does not read to the end.
 *
 * @param held
 *   returns a range's chunks if this executor holds all of them
 * @param direct
 *   reads a range from the service and counts its calls; it is closed after the range
 */
final private[sparkkinesis] class RangesRead(
    ranges: Seq[ShardRange],
    held: ShardRange => Option[IndexedSeq[HeldChunk]],
    direct: (ShardRange, ConsumerMetrics) => Iterator[Chunk] with AutoCloseable
) extends AutoCloseable {
  private val todo = ranges.iterator
  private var chunks: BufferedIterator[Chunk] = Iterator.empty[Chunk].buffered
  private var reading: Option[AutoCloseable] = None
  private var currentRange: ShardRange = _
  private var currentChunk: Chunk = _

  /** The last record of the current range that was returned. */
  private var delivered = Option.empty[SequenceNumber]

  /** Counts the service calls. */
  val metrics = new ConsumerMetrics

  /** Advances to the next chunk. Returns false at the end. */
  def next(): Boolean = {
    while (!hasMore && todo.hasNext) open(todo.next())
    val more = hasMore
    if (more) {
      currentChunk = chunks.next()
      delivered = Some(currentChunk.lastSequenceNumber)
    }
    more
  }

  /** Whether the current range has more chunks. Loads the next one from its file. */
  private def hasMore: Boolean =
    try chunks.hasNext
    catch {
      case _: SpillLost =>
        readDirectly(delivered.fold(currentRange)(last =>
          currentRange.copy(
            after = StartingPosition.AfterSequenceNumber(last),
            skipUpTo = None,
            firstArrivalMillis = None
          )
        ))
        chunks.hasNext
    }

  /** The range of the current chunk. */
  def range: ShardRange = currentRange
  def chunk: Chunk = currentChunk
  def isFromMemory: Boolean = reading.isEmpty

  override def close(): Unit = {
    reading.foreach(_.close())
    reading = None
    chunks = Iterator.empty[Chunk].buffered
  }

  private def open(range: ShardRange): Unit = {
    close()
    currentRange = range
    delivered = None
    held(range).map(load(range, _)) match {
      case Some(loaded) =>
        chunks = loaded
        if (lacksBeginning(range)) readDirectly(range)
      case None => readDirectly(range)
    }
  }

  private def load(range: ShardRange, held: IndexedSeq[HeldChunk]): BufferedIterator[Chunk] =
    held.iterator.flatMap(_.load()).flatMap(chunk => range.skipUpTo.fold(Option(chunk))(chunk.after)).buffered

  private def readDirectly(range: ShardRange): Unit = {
    val read = direct(range, metrics)
    reading = Some(read)
    chunks = read.buffered
  }

  /**
   * An executor that took over the shard may have fetched it after the first records had expired. The direct read
   * reports that.
   */
  private def lacksBeginning(range: ShardRange): Boolean =
    range.firstArrivalMillis.exists(planned => !hasMore || chunks.head.arrivalMillis(0) > planned) && reading.isEmpty
}

private[sparkkinesis] object RangesRead {

  /**
   * @param sourceId
   *   the source whose consumers may have the ranges in memory; empty for a batch read
   * @param hosts
   *   the consumers in this executor
   */
  def apply(
      ranges: Seq[ShardRange],
      sourceId: Option[String],
      settings: ReadSettings,
      hosts: ConsumerHosts,
      environment: Environment
  ): RangesRead = {
    def held(range: ShardRange): Option[IndexedSeq[HeldChunk]] = range.end match {
      case RangeEnd.At(number) => sourceId.flatMap(hosts.find).flatMap(_.read(range, number))
      case _ => None
    }
    new RangesRead(ranges, held, new DirectRead(_, settings, _, environment))
  }
}
