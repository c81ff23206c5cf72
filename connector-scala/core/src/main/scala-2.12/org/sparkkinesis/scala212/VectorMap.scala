package org.sparkkinesis.scala212

import scala.collection.generic.ImmutableMapFactory
import scala.collection.immutable.{HashMap, MapLike, TreeMap}

/**
 * An immutable map that iterates over its keys in the order in which they were added first, as that of Scala 2.13 does.
 * `ListMap` has the same order, but its look-ups take time in proportion to its size.
 */
final class VectorMap[K, +V] private (places: HashMap[K, Long], entries: TreeMap[Long, (K, V)])
    extends scala.collection.immutable.Map[K, V] with MapLike[K, V, VectorMap[K, V]] with Serializable {

  override def empty: VectorMap[K, V] = VectorMap.empty

  override def get(key: K): Option[V] = places.get(key).map(entries(_)._2)

  override def iterator: Iterator[(K, V)] = entries.valuesIterator

  override def size: Int = places.size

  override def +[V1 >: V](entry: (K, V1)): VectorMap[K, V1] = {
    val place = places.getOrElse(entry._1, if (entries.isEmpty) 0L else entries.lastKey + 1)
    new VectorMap(places.updated(entry._1, place), entries.asInstanceOf[TreeMap[Long, (K, V1)]] + (place -> entry))
  }

  override def updated[V1 >: V](key: K, value: V1): VectorMap[K, V1] = this + (key -> value)

  override def -(key: K): VectorMap[K, V] =
    places.get(key).fold(this)(place => new VectorMap(places - key, entries - place))
}

object VectorMap extends ImmutableMapFactory[VectorMap] {
  override def empty[K, V]: VectorMap[K, V] = new VectorMap(HashMap.empty, TreeMap.empty)
  implicit def canBuildFrom[K, V]: scala.collection.generic.CanBuildFrom[Coll, (K, V), VectorMap[K, V]] =
    new MapCanBuildFrom[K, V]
}
