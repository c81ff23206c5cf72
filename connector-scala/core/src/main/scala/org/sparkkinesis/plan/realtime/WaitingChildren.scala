package org.sparkkinesis.plan.realtime

import scala.collection.mutable

import org.sparkkinesis.model.{ChildShard, StreamShard}
import org.sparkkinesis.shard.Lineage

/**
 * Finds the child shards that no task of a real-time batch can begin although all their parents are finished, because
 * several tasks have read the parents. Such a child is read from the next batch on, so the batch should end. Not
 * thread-safe.
 *
 * @param finishedBefore
 *   shards that were finished before the batch
 */
final class WaitingChildren(finishedBefore: Set[StreamShard]) {
  private val finished = mutable.HashSet.from(finishedBefore)
  private val waiting = mutable.HashMap.empty[StreamShard, ChildShard]

  /**
   * Records that a task has finished a shard.
   *
   * @param children
   *   the children that the task did not begin
   * @return
   *   whether all parents of some child are finished now
   */
  def finish(shard: StreamShard, children: Seq[ChildShard]): Boolean = {
    finished += shard
    children.foreach(child => waiting(StreamShard(shard.stream, child.id)) = child)
    waiting.exists { case (StreamShard(stream, _), child) =>
      Lineage.permits(child)(parent => finished(StreamShard(stream, parent)))
    }
  }
}
