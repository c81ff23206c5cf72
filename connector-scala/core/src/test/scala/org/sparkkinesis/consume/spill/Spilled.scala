package org.sparkkinesis.consume.spill

import org.sparkkinesis.chunk.Chunk
import org.sparkkinesis.concurrent.SystemClock
import org.sparkkinesis.event.EventSink

/** Writes chunks to local files as the consumers do. */
object Spilled {

  /** Returns each chunk in a block of its own. */
  def each(files: SpillFiles, chunks: Seq[Chunk]): Seq[HeldChunk] = {
    val shard = new ChunkSpill(files, 1L << 30, maxRows = 1, maxBlockBytes = 1, SystemClock, EventSink.Discard).open()
    chunks.flatMap(chunk => shard.write(Seq(chunk)).get)
  }
}
