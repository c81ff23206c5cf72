package org.sparkkinesis.consume.spill

import java.io.IOException
import java.util.concurrent.atomic.{AtomicBoolean, AtomicLong}

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.chunk.{Chunk, ChunkCodec}
import org.sparkkinesis.concurrent.Clock
import org.sparkkinesis.event.{EventSink, SpillFailed, SpillStarted}

/**
 * Local files for the fetched records that memory cannot hold until a batch reads them. The files have at most
 * `maxBytes`. If one cannot be written, or the disk is to be left to others, the consumers wait for space in memory.
 * They write again when there is space or, after a failure, a pause has passed. Thread-safe.
 *
 * @param maxBytes
 *   maximum number of bytes of all files
 * @param maxRows
 *   maximum number of rows of chunks that are joined to one block, so that reading it takes as much memory as one chunk
 * @param maxBlockBytes
 *   maximum number of bytes of payloads and keys of chunks that are joined to one block
 */
final class ChunkSpill(
    files: SpillFiles,
    maxBytes: Long,
    maxRows: Int,
    maxBlockBytes: Int,
    clock: Clock,
    events: EventSink
) {
  import ChunkSpill._

  private val used = new AtomicLong
  private val hasBegun = new AtomicBoolean
  @volatile private var failedNanos = Option.empty[Long]

  /** When the disk was asked for its space, and whether it had some. */
  @volatile private var lastLook = Option.empty[(Long, Boolean)]

  /** Bytes of all files. */
  def usedBytes: Long = used.get

  /** Whether more may be written. */
  def hasRoom: Boolean = used.get < maxBytes &&
    failedNanos.forall(clock.nanoTime - _ >= PauseAfterFailure.toNanos) && isSpare

  /** Whether the disk has space that others do not need. It is asked once a second, because many callers ask. */
  private def isSpare: Boolean = {
    val now = clock.nanoTime
    lastLook match {
      case Some((nanos, spare)) if now - nanos < LookPeriod.toNanos => spare
      case _ =>
        val spare = files.spareBytes > 0
        lastLook = Some((now, spare))
        spare
    }
  }

  /** Creates the files of one shard. */
  private[consume] def open(): ShardSpill = new ShardSpill

  final private[consume] class ShardSpill {
    private val present = mutable.HashSet.empty[CountedFile]
    private var current = Option.empty[CountedFile]
    private var isClosed = false

    /** Writes consecutive chunks, and returns them in their order; `None` if they could not be written. */
    def write(chunks: Seq[Chunk]): Option[Seq[SpilledChunk]] = {
      val written = mutable.ArrayBuffer.empty[SpilledChunk]
      try {
        blocks(chunks).foreach(block => written += append(block))
        if (hasBegun.compareAndSet(false, true)) events.emit(SpillStarted(maxBytes))
        // The shard may have been closed meanwhile.
        if (synchronized(isClosed)) close()
        Some(written.toSeq)
      } catch {
        case failure: IOException =>
          written.foreach(_.release())
          failedNanos = Some(clock.nanoTime)
          events.emit(SpillFailed(failure.toString, PauseAfterFailure.toMillis))
          None
      }
    }

    /** Deletes every file. */
    def close(): Unit = synchronized {
      isClosed = true
      present.toVector.foreach(delete)
    }

    private def append(chunks: Seq[Chunk]): SpilledChunk = {
      val bytes = ChunkCodec.encode(chunks)
      synchronized {
        val file = current.filter(_.bytes < FileBytes).getOrElse {
          val fresh = new CountedFile(files.create())
          present += fresh
          current = Some(fresh)
          fresh
        }
        val place =
          try file.file.append(bytes)
          catch {
            case failure: IOException =>
              // It may end with a part of the block.
              current = None
              if (file.blocks == 0) delete(file)
              throw failure
          }
        file.bytes += place.length
        used.addAndGet(place.length.toLong)
        file.blocks += 1
        val block = new SpilledBlock(file.file, place, () => release(file))
        SpilledChunk(block, chunks.head.firstSequenceNumber, chunks.iterator.map(_.summary).toVector)
      }
    }

    /** Releases one block of a file, and deletes the file with its last block. */
    private def release(file: CountedFile): Unit = synchronized {
      file.blocks -= 1
      if (file.blocks == 0) delete(file)
    }

    private def delete(file: CountedFile): Unit = if (present.remove(file)) {
      current = current.filterNot(_ eq file)
      used.addAndGet(-file.bytes)
      file.file.delete()
    }
  }

  /** Joins small chunks to blocks of the size of one chunk. */
  private def blocks(chunks: Seq[Chunk]): Seq[Seq[Chunk]] = {
    val blocks = mutable.ArrayBuffer.empty[mutable.ArrayBuffer[Chunk]]
    chunks.foreach { chunk =>
      val fits = blocks.lastOption.exists { block =>
        block.iterator.map(_.rows.toLong).sum + chunk.rows <= maxRows &&
        block.iterator.map(_.bytes).sum + chunk.bytes <= maxBlockBytes
      }
      if (fits) blocks.last += chunk else blocks += mutable.ArrayBuffer(chunk)
    }
    blocks.toSeq.map(_.toSeq)
  }
}

object ChunkSpill {

  /** Time without a write after one has failed. */
  val PauseAfterFailure: FiniteDuration = 1.minute

  /** Time between two looks at the space of the disk. */
  private val LookPeriod = 1.second

  /** A file gets no further block when it has this size. */
  private val FileBytes = 64L << 20

  final private class CountedFile(val file: SpillFile) {
    var bytes = 0L
    var blocks = 0
  }
}

/** A block in a local file. */
final private[consume] class SpilledBlock(file: SpillFile, place: SpillPlace, onRelease: () => Unit) {
  def read(): Array[Byte] = file.read(place)
  def release(): Unit = onRelease()
}
