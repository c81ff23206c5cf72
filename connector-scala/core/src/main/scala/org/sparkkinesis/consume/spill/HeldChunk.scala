package org.sparkkinesis.consume.spill

import java.io.IOException

import org.sparkkinesis.chunk.{Chunk, ChunkCodec, ChunkSummary}
import org.sparkkinesis.model.SequenceNumber

/** Consecutive records of a shard that an executor holds, in memory or in a local file. Immutable and thread-safe. */
sealed trait HeldChunk {

  /** The first record, or a number before it. */
  def firstSequenceNumber: SequenceNumber
  def lastSequenceNumber: SequenceNumber

  /** Arrival time of the first record, in epoch milliseconds. */
  def firstArrivalMillis: Long

  /** The chunks as they were reported, without those that were released. */
  def summaries: Seq[ChunkSummary]

  /** Memory in bytes that is retained. */
  def retainedBytes: Long

  /** Returns the records after `number`, or `None` if there are none. */
  def after(number: SequenceNumber): Option[HeldChunk]

  /** Returns the records at and after `number`, or `None` if there are none. */
  def at(number: SequenceNumber): Option[HeldChunk]

  /** Returns the records up to and including `number`, or `None` if there are none. */
  def upTo(number: SequenceNumber): Option[HeldChunk]

  /** Whether a reported chunk ends with this record, or the records on both sides of it can be told apart anyway. */
  def canSplitAfter(number: SequenceNumber): Boolean

  /** Returns the records, if there are some. Throws [[SpillLost]] if the file is gone. */
  def load(): Option[Chunk]
}

/** Records in memory. */
final case class ChunkInMemory(chunk: Chunk) extends HeldChunk {
  override def firstSequenceNumber: SequenceNumber = chunk.firstSequenceNumber
  override def lastSequenceNumber: SequenceNumber = chunk.lastSequenceNumber
  override def firstArrivalMillis: Long = chunk.arrivalMillis(0)
  override def summaries: Seq[ChunkSummary] = Seq(chunk.summary)
  override def retainedBytes: Long = chunk.retainedBytes
  override def after(number: SequenceNumber): Option[HeldChunk] = chunk.after(number).map(ChunkInMemory(_))
  override def at(number: SequenceNumber): Option[HeldChunk] = chunk.at(number).map(ChunkInMemory(_))
  override def upTo(number: SequenceNumber): Option[HeldChunk] = chunk.upTo(number).map(ChunkInMemory(_))
  override def canSplitAfter(number: SequenceNumber): Boolean = true
  override def load(): Option[Chunk] = Some(chunk)
}

/**
 * Records in a local file.
 *
 * @param summaries
 *   the reported chunks, which the block contains one after the other; at least one
 * @param above
 *   excludes the records up to and including this one
 * @param from
 *   excludes the records before this one
 * @param until
 *   excludes the records after this one
 */
final private[consume] case class SpilledChunk(
    block: SpilledBlock,
    firstSequenceNumber: SequenceNumber,
    summaries: Seq[ChunkSummary],
    above: Option[SequenceNumber] = None,
    from: Option[SequenceNumber] = None,
    until: Option[SequenceNumber] = None
) extends HeldChunk {
  override def lastSequenceNumber: SequenceNumber = summaries.last.last
  override def firstArrivalMillis: Long = summaries.head.firstArrivalMillis
  override def retainedBytes: Long = SpilledChunk.OverheadBytes + summaries.size * SpilledChunk.SummaryBytes

  override def after(number: SequenceNumber): Option[HeldChunk] =
    if (number < firstSequenceNumber) Some(this)
    else
      Option.when(number < lastSequenceNumber)(
        copy(firstSequenceNumber = number, summaries = summaries.filter(_.last > number), above = Some(number))
      )

  override def at(number: SequenceNumber): Option[HeldChunk] =
    if (number <= firstSequenceNumber) Some(this)
    else
      Option.when(number <= lastSequenceNumber)(
        copy(firstSequenceNumber = number, summaries = summaries.filter(_.last >= number), from = Some(number))
      )

  override def upTo(number: SequenceNumber): Option[HeldChunk] =
    if (number >= lastSequenceNumber) Some(this)
    else Option.when(number >= firstSequenceNumber)(copy(until = Some(number)))

  override def canSplitAfter(number: SequenceNumber): Boolean =
    number < firstSequenceNumber || summaries.exists(_.last == number)

  override def load(): Option[Chunk] = {
    val whole =
      try ChunkCodec.decode(block.read())
      catch { case lost @ (_: IOException | _: ChunkCodec.Damaged) => throw new SpillLost(lost) }
    val begin = above.fold(Option(whole))(whole.after)
    val rest = from.fold(begin)(number => begin.flatMap(_.at(number)))
    until.fold(rest)(number => rest.flatMap(_.upTo(number)))
  }

  /** Allows the file to be deleted. Called once for each block. */
  private[consume] def release(): Unit = block.release()
}

private object SpilledChunk {

  /** Estimated memory of the objects that describe a block. */
  val OverheadBytes = 320L

  /** Estimated memory of a summary with its sequence number. */
  val SummaryBytes = 192L
}

/** Records in a local file cannot be read. They are in the stream. */
final class SpillLost(cause: Throwable) extends RuntimeException("records of a local file cannot be read", cause)
