package org.sparkkinesis.plan.realtime

import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{ShardId, StreamShard}
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.shard.{Lineage, ShardGraph}

/**
 * A shard that a task of a real-time batch reads from its position on.
 *
 * @param stream
 *   name of the stream, as in the rows
 * @param creationMillis
 *   creation time of the stream, in epoch milliseconds
 */
final case class LiveShard(
    shard: StreamShard,
    stream: String,
    position: ShardPosition,
    hashKeyRange: Option[HashKeyRange],
    creationMillis: Long = 0
)

/**
 * The shards that can be read in a real-time batch.
 *
 * @param finished
 *   shards of the offset that were read to their end before the batch
 * @param heldBack
 *   shards of the offset that follow a parent that is still to be read; they wait for the next batch
 */
final case class LiveShards(readable: Vector[LiveShard], finished: Set[StreamShard], heldBack: Set[StreamShard]) {
  def all: BatchShards = BatchShards.of(readable.map(_.shard) ++ finished ++ heldBack)
}

/** Divides the shards of a real-time batch between its tasks. Pure: equal inputs give equal results. */
object RealTimePlanner {

  /** Returns the shards of an offset, as far as their parents permit reading them. */
  def shards(start: SourceOffset, graphs: String => ShardGraph): LiveShards = {
    val all = start.streams.valuesIterator.flatMap { stream =>
      val graph = graphs(stream.arn)
      stream.shards.iterator.map { case (id, position) =>
        val shard =
          LiveShard(StreamShard(stream.arn, id), stream.name, position, graph.range(id), stream.creationMillis)
        (shard, waitsForParent(id, stream, graph))
      }
    }.toVector
    val (finished, unfinished) = all.partition(_._1.position == ShardPosition.ShardEnd)
    val (waiting, readable) = unfinished.partition(_._2)
    LiveShards(readable.map(_._1), finished.map(_._1.shard).toSet, waiting.map(_._1.shard).toSet)
  }

  private def waitsForParent(shard: ShardId, stream: StreamOffset, graph: ShardGraph): Boolean =
    !Lineage.permits(graph, shard)(stream.shards.get(_).map(_ == ShardPosition.ShardEnd))

  /**
   * Returns the number of tasks: one for each shard, as far as there are slots; with `perTask`, as many as that
   * requires, which may exceed the slots. There is at least one task, because Spark ends a batch without tasks at once.
   *
   * @param slots
   *   number of tasks that can run at once
   */
  def taskCount(shards: Int, slots: Int, perTask: Option[Int]): Int =
    math.max(1, perTask.fold(math.min(shards, slots))(size => (shards + size - 1) / size))

  /**
   * Divides the shards into runs of neighboring hash key ranges whose sizes differ by at most one. Neighbors are in one
   * task, because the child of a merge can be read within the batch only if one task has read both parents.
   */
  def runs(shards: Vector[LiveShard], tasks: Int): Vector[Vector[LiveShard]] = {
    val ordered = shards.sortBy(live =>
      (live.shard.stream, live.hashKeyRange.fold(BigInt(-1))(_.start), live.shard.shard.value)
    )
    Vector.tabulate(tasks)(task =>
      ordered.slice(bound(task, ordered.size, tasks), bound(task + 1, ordered.size, tasks))
    )
  }

  private def bound(task: Int, shards: Int, tasks: Int): Int = (task.toLong * shards / tasks).toInt
}
