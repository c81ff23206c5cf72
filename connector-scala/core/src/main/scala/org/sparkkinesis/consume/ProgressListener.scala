package org.sparkkinesis.consume

import org.sparkkinesis.chunk.{Chunk, ChunkSummary}
import org.sparkkinesis.model.{ChildShard, StartingPosition, StreamShard}
import org.sparkkinesis.service.ServiceException

/**
 * Receives the progress of a source's consumers in one JVM.
 *
 * Calls for one shard are sequential; calls for different shards may be concurrent. They must not block. After a
 * snapshot, a listener may receive chunks that the snapshot already contained; sequence numbers identify them.
 */
trait ProgressListener {

  /** New chunks are held. */
  def onChunks(shard: StreamShard, epoch: Long, chunks: Seq[ChunkSummary]): Unit

  /**
   * Called after every response, including empty ones. All records that arrived until `readUpToMillis` are held or were
   * held before.
   *
   * @param hadRecords
   *   whether the response had records, also if all of them were filtered or known. Only a response without records
   *   shows that the shard is still open.
   */
  def onReadUpTo(
      shard: StreamShard,
      epoch: Long,
      readUpToMillis: Long,
      millisBehindLatest: Long,
      hadRecords: Boolean
  ): Unit

  /** All records of the shard are held or were held before. */
  def onShardEnd(shard: StreamShard, epoch: Long, children: Seq[ChildShard]): Unit

  /** The shard is no longer read. Held chunks remain readable. */
  def onFailure(shard: StreamShard, epoch: Long, error: ServiceException): Unit
}

/**
 * State of one shard at one moment.
 *
 * @param heldFrom
 *   memory contains all records from this position to the last of `chunks`
 * @param readUpToMillis
 *   see [[ProgressListener.onReadUpTo]]; 0 before the first response
 * @param end
 *   the child shards, if the end of the shard has been fetched
 */
final case class ShardSnapshot(
    shard: StreamShard,
    epoch: Long,
    heldFrom: StartingPosition,
    chunks: IndexedSeq[ChunkSummary],
    readUpToMillis: Long,
    millisBehindLatest: Long,
    end: Option[Seq[ChildShard]],
    failure: Option[ServiceException]
)

/**
 * The records of one shard that come next.
 *
 * @param chunk
 *   the next held records
 * @param end
 *   the child shards, if there is no further record and the shard has ended
 * @param readUpToMillis
 *   see [[ProgressListener.onReadUpTo]]; 0 before the first response
 */
final case class ShardHead(
    epoch: Long,
    chunk: Option[Chunk],
    end: Option[Seq[ChildShard]],
    failure: Option[ServiceException],
    readUpToMillis: Long,
    millisBehindLatest: Long
)
