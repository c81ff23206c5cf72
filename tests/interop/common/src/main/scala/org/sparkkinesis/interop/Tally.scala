package org.sparkkinesis.interop

import java.util.concurrent.TimeUnit

import scala.collection.mutable

/** Counts what a client read, by the records' numbers. Thread-safe. */
final class Tally {
  private val times = mutable.HashMap.empty[Int, Int]
  private val lastOfKey = mutable.HashMap.empty[String, Int]
  private var late = 0

  /** Takes the data of one [[ReshardedStream.Numbered]]. */
  def read(data: String): Unit = synchronized {
    val Array(key, text) = data.split(' '): @unchecked
    val number = text.toInt
    times.update(number, times.getOrElse(number, 0) + 1)
    if (lastOfKey.get(key).exists(_ > number)) late += 1
    lastOfKey.update(key, number)
    notifyAll()
  }

  /** How many different records were read. */
  def distinct: Int = synchronized(times.size)

  /** How many were read more than once, each counted as often as it came again. */
  def duplicates: Int = synchronized(times.valuesIterator.map(_ - 1).sum)

  /** How many came after a later one of their key. */
  def outOfOrder: Int = synchronized(late)

  /** Waits until `count` different records were read, or the time is over. */
  def await(count: Int, seconds: Long): Unit = synchronized {
    val end = System.nanoTime + TimeUnit.SECONDS.toNanos(seconds)
    while (times.size < count && System.nanoTime < end)
      wait(math.max(1L, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime)))
  }
}
