package org.sparkkinesis.plan.realtime

import scala.collection.mutable

import org.sparkkinesis.model.{ChildShard, StreamShard}
import org.sparkkinesis.shard.Lineage

/**
 * Decides which child shards a task of a real-time batch may read within the batch: those whose parents were all
 * finished by this task, or before the batch. Then all rows of the parents have passed through the same pipeline before
 * the first row of the child, so records of one partition key stay in order. Other children wait for the next batch.
 *
 * Not thread-safe.
 *
 * @param finishedBefore
 *   shards that were finished before the batch
 * @param ofBatch
 *   the shards of the start of the batch, which are not children to begin. If another task reads one of them, the
 *   stream was recreated, and shards of the new one have the names of old shards.
 */
final class TaskLineage(finishedBefore: Set[StreamShard], ofBatch: BatchShards) {
  private val finished = mutable.HashSet.from(finishedBefore)
  private val begun = mutable.HashSet.empty[StreamShard]

  /**
   * Records the end of a shard. Returns the children that can be read now.
   *
   * @param children
   *   the children as the end of the shard named them
   */
  def finish(shard: StreamShard, children: Seq[ChildShard]): Seq[ChildShard] = {
    finished += shard
    children.map(Lineage.named(_, shard.shard)).filter { child =>
      val id = StreamShard(shard.stream, child.id)
      Lineage.permits(child)(parent => finished(StreamShard(shard.stream, parent))) && !ofBatch.contains(id) &&
      begun.add(id)
    }
  }

  /** Returns the children of a finished shard that this task does not read, because other parents are not finished. */
  def waiting(shard: StreamShard, children: Seq[ChildShard]): Seq[ChildShard] =
    children.map(Lineage.named(_, shard.shard)).filterNot { child =>
      val id = StreamShard(shard.stream, child.id)
      ofBatch.contains(id) || begun(id)
    }
}
