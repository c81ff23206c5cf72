package org.sparkkinesis.chaos.realtime

import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.mutable

import org.sparkkinesis.chaos.Puts
import org.sparkkinesis.emulator.admin.EmulatorAdmin

/**
 * Puts numbered records one by one, and remembers when each was stored. Not thread-safe.
 *
 * @param keys
 *   the partition keys, which follow each other, with their explicit hash keys
 * @param size
 *   the bytes of a record; fewer than its number needs have no effect
 */
final private[realtime] class TimedProducer(
    service: EmulatorAdmin,
    stream: String,
    keys: IndexedSeq[(String, Option[BigInt])],
    size: Int = 0
) {
  private val sequenceNumbers = mutable.ArrayBuffer.empty[String]
  private val times = mutable.ArrayBuffer.empty[Long]

  def count: Int = sequenceNumbers.size

  def puts: Puts = Puts(stream, count, sequenceNumbers(_))

  /** Returns when the record was stored, in epoch milliseconds. */
  def storedMillis(number: Int): Long = times(number)

  /** Puts records as long as there are fewer than this. */
  def putUntil(total: Long): Unit = while (count < total) {
    val (key, hash) = keys(count % keys.size)
    val data = count.toString.padTo(size, ' ').getBytes(UTF_8)
    sequenceNumbers += service.putRecord(stream, key, hash.map(_.toString).orNull, data)
    times += System.currentTimeMillis
  }
}
