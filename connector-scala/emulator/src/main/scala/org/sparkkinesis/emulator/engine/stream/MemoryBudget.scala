package org.sparkkinesis.emulator.engine.stream

import java.util.concurrent.atomic.AtomicLong

import org.slf4j.LoggerFactory

/** How many bytes of records the emulator may hold; above it shards drop their oldest records early, with a warning. */
final class MemoryBudget(val capBytes: Long) {
  private val held = new AtomicLong
  private val trimmed = new AtomicLong

  def heldBytes: Long = held.get

  /** Records dropped before their retention was over. */
  def trimmedRecords: Long = trimmed.get
  def isExceeded: Boolean = held.get > capBytes

  private[stream] def add(bytes: Long): Unit = {
    held.addAndGet(bytes)
    ()
  }

  private[stream] def trimmedEarly(): Unit =
    if (trimmed.getAndIncrement() == 0)
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
