package org.sparkkinesis.consume

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.model.{ChildShard, StartingPosition, StreamShard}
import org.sparkkinesis.service.ServiceException

/**
 * Hears what changed in the consumers of one source in one JVM.
 *
 * For one shard the calls come in order, one at a time; different shards' calls may come at the same time. They must
 * not block. After a snapshot a listener may hear again what the snapshot held already: compare sequence numbers.
 */
trait ProgressListener {

  /** New data is held. */
  def onChunks(shard: StreamShard, epoch: Long, chunks: Seq[ChunkSummary]): Unit

  /** After every answer, also an empty one: everything that arrived until `readUpToMillis` is held, or was before. */
  def onReadUpTo(shard: StreamShard, epoch: Long, readUpToMillis: Long, millisBehindLatest: Long): Unit

  /** Everything in the shard is held, or was before. */
  def onShardEnd(shard: StreamShard, epoch: Long, children: Seq[ChildShard]): Unit

  /** The shard is no longer read. What is held stays readable. */
  def onFailure(shard: StreamShard, epoch: Long, error: ServiceException): Unit
}

/**
 * Everything about one shard at one moment.
 *
 * @param heldFrom
 *   memory can serve what lies after this position, up to the last of `chunks`
 * @param readUpToMillis
 *   see [[ProgressListener.onReadUpTo]]; 0 before the first answer
 * @param end
 *   the children, once the shard is known to have ended
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
