package org.sparkkinesis.spark.read.realtime

import org.sparkkinesis.plan.realtime.LiveShard
import org.sparkkinesis.spark.coordinator.cluster.ExecutorPlace

/** Chooses the executors that Spark prefers for the tasks of a real-time batch. Pure. */
private[realtime] object RealTimePlaces {

  /**
   * Returns the executor that last read most of the task's shards, because its consumers continue; no executor if that
   * is unknown. An executor that cannot reach a stream of the task is left out; if that leaves none of the last
   * readers, every other executor is preferred.
   *
   * @param shards
   *   the shards of the task
   * @param last
   *   the executor that last read a shard
   * @param avoided
   *   the executors that should not read a stream
   */
  def of(
      shards: Seq[LiveShard],
      last: LiveShard => Option[ExecutorPlace],
      all: Seq[ExecutorPlace],
      avoided: String => Set[String]
  ): Seq[ExecutorPlace] = {
    val unfit = shards.map(_.shard.stream).distinct.flatMap(avoided).toSet
    val (left, usable) = shards.flatMap(last(_)).partition(place => unfit(place.id))
    val preferred = usable.groupBy(identity).toSeq.sortBy { case (place, of) => (-of.size, place.id) }.headOption
    preferred.fold(if (left.isEmpty) Nil else all.filterNot(place => unfit(place.id)))(one => Seq(one._1))
  }
}
