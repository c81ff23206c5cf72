package org.sparkkinesis.emulator.engine.stream

import scala.collection.mutable

import org.sparkkinesis.model.hash.HashKeyRange

/** A shard that a resharding creates. `parents` are indices; the first one is ParentShardId. */
final case class PlannedShard(index: Long, range: HashKeyRange, parents: Seq[Long])

/**
 * The shards that a resharding creates, in order, and closes. A later step may close a shard that an earlier step
 * created.
 */
final case class ReshardPlan(created: Vector[PlannedShard], closed: Set[Long])

/** Plans reshardings of open ranges. Pure. */
object Resharding {

  def split(shard: PlannedShard, newStart: BigInt, nextIndex: Long): ReshardPlan =
    ReshardPlan(
      Vector(
        PlannedShard(nextIndex, HashKeyRange(shard.range.start, newStart - 1), Seq(shard.index)),
        PlannedShard(nextIndex + 1, HashKeyRange(newStart, shard.range.end), Seq(shard.index))
      ),
      Set(shard.index)
    )

  def merge(shard: PlannedShard, adjacent: PlannedShard, nextIndex: Long): ReshardPlan =
    ReshardPlan(
      Vector(PlannedShard(nextIndex, shard.range.union(adjacent.range), Seq(shard.index, adjacent.index))),
      Set(shard.index, adjacent.index)
    )

  /** Plans the change to `target` equal ranges: splits at all new boundaries, then merges the pieces. */
  def uniform(open: Seq[PlannedShard], target: Int, firstIndex: Long): ReshardPlan = {
    val wanted = HashKeyRange.uniform(target)
    val boundaries = wanted.map(_.start)
    val created = Vector.newBuilder[PlannedShard]
    val closed = mutable.Set.empty[Long]
    var next = firstIndex

    def run(plan: ReshardPlan): Vector[PlannedShard] = {
      created ++= plan.created
      closed ++= plan.closed
      next += plan.created.size
      plan.created
    }

    val pieces = Vector.newBuilder[PlannedShard]
    open.sortBy(_.range.start).foreach { shard =>
      var rest = shard
      boundariesInside(boundaries, shard.range).foreach { boundary =>
        val halves = run(split(rest, boundary, next))
        pieces += halves.head
        rest = halves.last
      }
      pieces += rest
    }
    val sorted = pieces.result()
    var at = 0
    wanted.foreach { range =>
      var whole = sorted(at)
      at += 1
      while (whole.range.end < range.end) {
        whole = run(merge(whole, sorted(at), next)).head
        at += 1
      }
    }
    ReshardPlan(created.result(), closed.toSet)
  }

  private def boundariesInside(boundaries: IndexedSeq[BigInt], range: HashKeyRange): Seq[BigInt] = {
    val from = boundaries.search(range.start + 1).insertionPoint
    val until = boundaries.search(range.end + 1).insertionPoint
    boundaries.slice(from, until)
  }
}
