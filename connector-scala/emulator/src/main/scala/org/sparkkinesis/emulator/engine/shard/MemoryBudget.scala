package org.sparkkinesis.emulator.engine.shard

import java.util.concurrent.atomic.{AtomicBoolean, AtomicLong}

import org.slf4j.LoggerFactory

/** How many bytes of records the emulator may hold; above it shards drop their oldest records early, with a warning. */
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
        s"The emulator holds more than its cap of $capBytes bytes: the oldest records of busy shards are dropped before " +
          "their retention is over. Raise the memory cap (and the heap) to keep them."
      )
}

object MemoryBudget {
  private val log = LoggerFactory.getLogger(classOf[MemoryBudget])

  /** What a record costs beside its payload: objects, sequence number, key. */
  val RecordOverhead: Int = 200

  /** What a shard may hold whatever others hold: so many records, if they are no more than so many bytes. */
  val FloorRecords: Int = 256
  val FloorBytes: Long = 4L * 1024 * 1024
}
