package org.sparkkinesis.metric

/** Sums of maps. */
object Sums {

  /** Returns the values of both maps, where `plus` adds those of keys that both have. */
  def of[K, V](one: Map[K, V], other: Map[K, V])(plus: (V, V) => V): Map[K, V] =
    if (one.isEmpty) other
    else other.foldLeft(one) { case (all, (key, value)) => all.updated(key, all.get(key).fold(value)(plus(_, value))) }
}
