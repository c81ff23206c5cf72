package org.sparkkinesis.spark.coordinator.cluster

import org.apache.spark.rdd.RDD
import org.apache.spark.{Partition, SparkContext, TaskContext}

/**
 * One task for each location, with its number as the only element. Spark serializes the elements of `parallelize` with
 * the serializer of the application, which may be Kryo that does not know their classes. Partitions are always
 * serialized with Java's.
 *
 * @param locations
 *   where each task should run, as Spark names it; empty for anywhere
 */
final private class PlacedTasks(context: SparkContext, @transient private val locations: Seq[Option[String]])
    extends RDD[Int](context, Nil) {
  override protected def getPartitions: Array[Partition] =
    locations.indices.map(i => new PlacedTask(i, locations(i))).toArray[Partition]

  override protected def getPreferredLocations(split: Partition): Seq[String] = split match {
    case task: PlacedTask => task.location.toList
    case _ => Nil
  }

  override def compute(split: Partition, task: TaskContext): Iterator[Int] = Iterator.single(split.index)
}

final private class PlacedTask(override val index: Int, val location: Option[String]) extends Partition
