package org.sparkkinesis.spark.read.reader

import org.sparkkinesis.chunk.Chunk
import org.sparkkinesis.consume.RangeEnd
import org.sparkkinesis.event.ConsumerMetrics
import org.sparkkinesis.plan.ShardRange
import org.sparkkinesis.spark.connection.Environment
import org.sparkkinesis.spark.executor.ConsumerHosts
import org.sparkkinesis.spark.settings.ReadSettings

/**
 * Reads a task's ranges one after the other: from memory if this executor holds a whole range, else from the service.
 *
 * For one thread, which blocks on service calls. The caller closes it if it does not read to the end.
 *
 * @param held
 *   returns a range's chunks if all of them are in memory
 * @param direct
 *   reads a range from the service and counts its calls; it is closed after the range
 */
final private[sparkkinesis] class RangesRead(
    ranges: Seq[ShardRange],
    held: ShardRange => Option[IndexedSeq[Chunk]],
    direct: (ShardRange, ConsumerMetrics) => Iterator[Chunk] with AutoCloseable
) extends AutoCloseable {
  private val todo = ranges.iterator
  private var chunks: Iterator[Chunk] = Iterator.empty
  private var reading: Option[AutoCloseable] = None
  private var currentRange: ShardRange = _
  private var currentChunk: Chunk = _

  /** Counts the service calls. */
  val metrics = new ConsumerMetrics

  /** Advances to the next chunk. Returns false at the end. */
  def next(): Boolean = {
    while (!chunks.hasNext && todo.hasNext) open(todo.next())
    val more = chunks.hasNext
    if (more) currentChunk = chunks.next()
    more
  }

  /** The range of the current chunk. */
  def range: ShardRange = currentRange
  def chunk: Chunk = currentChunk
  def isFromMemory: Boolean = reading.isEmpty

  override def close(): Unit = {
    reading.foreach(_.close())
    reading = None
    chunks = Iterator.empty
  }

  private def open(range: ShardRange): Unit = {
    close()
    currentRange = range
    chunks = held(range).filterNot(lacksBeginning(range, _)).fold {
      val read = direct(range, metrics)
      reading = Some(read)
      read: Iterator[Chunk]
    }(_.iterator)
  }

  /**
   * An executor that took over the shard may have fetched it after the first records had expired. The direct read
   * reports that.
   */
  private def lacksBeginning(range: ShardRange, chunks: IndexedSeq[Chunk]): Boolean =
    range.firstArrivalMillis.exists(planned => chunks.headOption.forall(_.arrivalMillis(0) > planned))
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
    def held(range: ShardRange): Option[IndexedSeq[Chunk]] = range.end match {
      case RangeEnd.At(number) =>
        sourceId.flatMap(hosts.find).flatMap(_.read(range, number)).map { chunks =>
          range.skipUpTo.fold(chunks)(skipped => chunks.flatMap(_.after(skipped)))
        }
      case _ => None
    }
    new RangesRead(ranges, held, new DirectRead(_, settings, _, environment))
  }
}
