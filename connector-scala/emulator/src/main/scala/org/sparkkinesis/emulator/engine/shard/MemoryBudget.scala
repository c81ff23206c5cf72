package org.sparkkinesis.emulator.engine.shard

import java.util.concurrent.atomic.{AtomicBoolean, AtomicLong}

import org.slf4j.LoggerFactory

/**
 * Limits the bytes of records that the emulator holds. Above the limit, shards drop their oldest records early, with
 * a warning.
 */
final class MemoryBudget(val capBytes: Long) {
  private val held = new AtomicLong
  private val hasWarned = new AtomicBoolean

  def heldBytes: Long = held.get
  def isExceeded: Boolean = held.get > capBytes

  private[shard] def add(bytes: Long): Unit = {
    held.addAndGet(bytes)
    ()
  }

  private[shard] def trimmedEarly(): Unit =
    if (hasWarned.compareAndSet(false, true))
      MemoryBudget.log.warn(
        s"The emulator holds more than its limit of $capBytes bytes of records, so it drops the oldest records of " +
          "busy shards before their retention ends. Increase --memory-mb (memoryCapBytes) and the heap to keep them."
      )
}

object MemoryBudget {
  private val log = LoggerFactory.getLogger(classOf[MemoryBudget])

  /** Estimated bytes of memory that a record takes in addition to its payload: objects, sequence number and key. */
  val RecordOverhead: Int = 200

  /**
   * The records that a shard may hold even above the limit: this number, if they do not exceed this number of bytes.
   */
  val FloorRecords: Int = 256
  val FloorBytes: Long = 4L * 1024 * 1024
}
