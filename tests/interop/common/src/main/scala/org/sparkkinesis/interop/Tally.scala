package org.sparkkinesis.interop

import java.util.concurrent.TimeUnit

import scala.collection.mutable

/** Counts the records that a client read by their numbers. Thread-safe. */
final class Tally {
  private val times = mutable.HashMap.empty[Int, Int]
  private val lastOfKey = mutable.HashMap.empty[String, Int]
  private var late = 0

  /** Counts one record from the data of a [[ReshardedStream.Numbered]]. */
  def read(data: String): Unit = synchronized {
    val Array(key, text) = data.split(' '): @unchecked
    val number = text.toInt
    times.update(number, times.getOrElse(number, 0) + 1)
    if (lastOfKey.get(key).exists(_ > number)) late += 1
    lastOfKey.update(key, number)
    notifyAll()
  }

  /** Returns the number of different records. */
  def distinct: Int = synchronized(times.size)

  /** Returns the number of repeated reads; each further read of a record counts. */
  def duplicates: Int = synchronized(times.valuesIterator.map(_ - 1).sum)

  /** Returns the number of records that were read after a later record of their key. */
  def outOfOrder: Int = synchronized(late)

  /** Waits until `count` different records were read, at most this many seconds. */
  def await(count: Int, seconds: Long): Unit = synchronized {
    val end = System.nanoTime + TimeUnit.SECONDS.toNanos(seconds)
    while (times.size < count && System.nanoTime < end)
      wait(math.max(1L, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime)))
  }
}
