package org.sparkkinesis.spark.coordinator

import scala.collection.mutable

import org.sparkkinesis.model.StreamShard

/**
 * Decides which executor reads which shard. Pure: the same input gives the same placement.
 *
 * New shards are distributed so that executors differ by at most one shard. Placed shards stay where they are, unless
 * an executor has more than its share; then a limited number of shards moves per round.
 */
object Placement {

  /**
   * Returns the maximum number of shards that move away from living executors per round. The limit avoids a burst of
   * new reads, and still gives a new executor its share after a few dozen rounds.
   */
  def movesAtOnce(shards: Int): Int = math.max(16, shards / 32)

  /**
   * @param current
   *   the present owners of shards; owners that are not in `executors` are ignored
   * @param near
   *   the executor that should get the shard if it has room, usually the owner of a parent shard
   * @param avoided
   *   the executors that get no shards of a stream as long as there are others
   */
  def place(
      shards: Seq[StreamShard],
      executors: Seq[String],
      current: Map[StreamShard, String],
      near: StreamShard => Option[String] = _ => None,
      avoided: String => Set[String] = _ => Set.empty
  ): Map[StreamShard, String] =
    if (executors.isEmpty) Map.empty
    else {
      val choices = shards.iterator.map(_.stream).distinct.map { stream =>
        val others = executors.filterNot(avoided(stream))
        stream -> (if (others.isEmpty) executors else others)
      }.toMap
      val living = choices.view.mapValues(_.toSet).toMap
      val placed =
        mutable.LinkedHashMap.from(shards.flatMap(shard =>
          current.get(shard).filter(living(shard.stream)).map(shard -> _)
        ))
      val load = mutable.Map.from(executors.map(_ -> 0))
      placed.valuesIterator.foreach(owner => load(owner) += 1)
      val most = (shards.size + executors.size - 1) / executors.size

      def leastLoaded(shard: StreamShard): String =
        choices(shard.stream).minBy(executor => (load(executor), executor))
      def give(shard: StreamShard, owner: String): Unit = {
        placed(shard) = owner
        load(owner) += 1
      }

      shards.filterNot(placed.contains).foreach { shard =>
        give(
          shard,
          near(shard).filter(owner => living(shard.stream)(owner) && load(owner) < most).getOrElse(leastLoaded(shard))
        )
      }
      val moves = placed.toVector.iterator.filter { case (shard, owner) => load(owner) > load(leastLoaded(shard)) + 1 }
      moves.take(movesAtOnce(shards.size)).foreach { case (shard, owner) =>
        if (load(owner) > load(leastLoaded(shard)) + 1) {
          load(owner) -= 1
          give(shard, leastLoaded(shard))
        }
      }
      placed.toMap
    }
}
