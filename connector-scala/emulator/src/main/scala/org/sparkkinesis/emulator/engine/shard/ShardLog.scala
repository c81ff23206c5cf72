package org.sparkkinesis.emulator.engine.shard

import org.sparkkinesis.emulator.engine.quota.{QuotaPolicy, ShardQuota}
import org.sparkkinesis.model.hash.{HashKeyRange, HashPoint}
import org.sparkkinesis.model.{ChildShard, SequenceNumber, Shard, ShardId}

/**
 * One shard: its lineage and its records. Thread-safe; every shard has its own lock, so shards do not wait for each
 * other. Arrival times never decrease within a shard.
 *
 * @param createdSeconds
 *   the creation time in its sequence numbers, one second after the end of its parents
 */
final class ShardLog private (
    val index: Long,
    val range: HashKeyRange,
    val parent: Option[Long],
    val adjacentParent: Option[Long],
    val openedMillis: Long,
    val createdSeconds: Long,
    budget: MemoryBudget
) {
  import ShardLog._

  val id: ShardId = ShardId.ofIndex(index)
  val startPoint: HashPoint = HashPoint.of(range.start)
  val startingSequenceNumber: String = SequenceNumbers.encode(createdSeconds, index, 0, createdSeconds)
  val traffic = new ShardTraffic

  private val records = new RecordSegments
  private var heldBytes = 0L
  private var lastSeqIx = 0L
  private var lastArrival = 0L
  private var quota: ShardQuota = _
  private var quotaPolicy: QuotaPolicy = _
  @volatile private var sealing: Closing = _
  @volatile private var end: Closing = _
  @volatile private var listeners: List[Runnable] = Nil

  def closing: Option[Closing] = Option(end)
  def isOpen: Boolean = end == null
  private[engine] def takesRecords: Boolean = sealing == null

  /**
   * Appends a record and returns it with its sequence number.
   *
   * @param limits
   *   null to ignore the write limits
   * @return
   *   null if the shard has been closed, [[Throttled]] if the write limit is exceeded
   */
  def append(put: IncomingRecord, encryptionType: String, now: Long, horizon: Long, limits: QuotaLimits): StoredRecord =
    synchronized {
      if (!takesRecords) null
      else if (limits != null && !currentQuota(limits, now).admitWrite(put.size, now)) {
        traffic.throttledWrites += 1
        Throttled
      } else {
        lastArrival = math.max(now, lastArrival)
        lastSeqIx += 1 + (lastSeqIx * SeqIxMixer >>> 61)
        val seconds = math.max(lastArrival / 1000, createdSeconds)
        val number = SequenceNumbers.encode(createdSeconds, index, lastSeqIx, seconds)
        val record =
          new StoredRecord(number, lastSeqIx, lastArrival, put.partitionKey, put.data, put.size, encryptionType)
        add(record)
        trim(horizon)
        record
      }
    }

  /** Restores a record from disk. */
  private[emulator] def restore(record: StoredRecord): Unit = synchronized {
    lastSeqIx = record.seqIx
    lastArrival = record.arrivalMillis
    add(record)
  }

  private def add(record: StoredRecord): Unit = {
    records.append(record)
    heldBytes += cost(record)
    budget.add(cost(record))
    traffic.recordsIn += 1
    traffic.bytesIn += record.size
  }

  private def currentQuota(limits: QuotaLimits, now: Long): ShardQuota = {
    if (quotaPolicy ne limits.policy) {
      quota = new ShardQuota(limits.policy, limits.largeRecords, now)
      quotaPolicy = limits.policy
    }
    quota
  }

  /** Counts a GetRecords call against the read limits of the shard. */
  def admitRead(now: Long, limits: QuotaLimits): Boolean = synchronized {
    val admitted = currentQuota(limits, now).admitRead(now)
    if (!admitted) traffic.throttledReads += 1
    admitted
  }

  def readTaken(bytes: Long, now: Long, limits: QuotaLimits): Unit = synchronized {
    currentQuota(limits, now).readTaken(bytes, now)
    traffic.bytesOut += bytes
  }

  /**
   * Returns the records after `seqIx` that arrived at or after `horizon`: at most `maxRecords`, and at most
   * `maxBytes` unless the first record is larger.
   */
  def read(seqIx: Long, horizon: Long, maxRecords: Int, maxBytes: Long): ReadResult = synchronized {
    trim(horizon)
    val from = math.max(records.firstAfter(seqIx), records.firstAtOrAfterTime(horizon))
    val limit = math.min(records.size.toLong, from.toLong + maxRecords).toInt
    var until = from
    var bytes = 0L
    while (until < limit && (until == from || bytes + records(until).size <= maxBytes)) {
      bytes += records(until).size
      until += 1
    }
    val found = new Array[StoredRecord](until - from)
    var i = from
    while (i < until) {
      found(i - from) = records(i)
      i += 1
    }
    new ReadResult(found, bytes, if (until < records.size) records(until).arrivalMillis else -1)
  }

  /** Returns the position before the first record that arrived at or after a time. */
  def seqIxBefore(millis: Long): Long = synchronized {
    val first = records.firstAtOrAfterTime(millis)
    if (first < records.size) records(first).seqIx - 1 else lastSeqIx
  }

  def tipSeqIx: Long = synchronized(lastSeqIx)

  /** Stops accepting records. Readers see the shard as open until [[close]]. */
  private[engine] def seal(now: Long): Unit = synchronized {
    val seconds = math.max(now / 1000, createdSeconds)
    sealing = Closing(now, seconds, SequenceNumbers.encode(createdSeconds, index, SequenceNumbers.EndSeqIx, seconds))
  }

  /**
   * Shows the end of a sealed shard to readers. Its children must already exist, since readers ask for them at once.
   */
  private[engine] def close(): Unit = {
    end = sealing
    wake()
  }

  private[emulator] def restoreClosing(closing: Closing): Unit = {
    sealing = closing
    end = closing
  }

  /** Drops expired records, and the oldest records while the emulator exceeds its memory limit. */
  def trim(horizon: Long): Unit = synchronized {
    while (records.size > 0 && records(0).arrivalMillis < horizon) drop()
    while (budget.isExceeded && isAboveFloor) {
      drop()
      budget.trimmedEarly()
    }
  }

  // Each shard keeps its newest records for its readers, even if other shards use all of the memory.
  private def isAboveFloor: Boolean =
    records.size > 1 && (records.size > MemoryBudget.FloorRecords || heldBytes > MemoryBudget.FloorBytes)

  def discard(): Unit = synchronized {
    while (records.size > 0) drop()
  }

  private def drop(): Unit = {
    val freed = cost(records.dropFirst())
    heldBytes -= freed
    budget.add(-freed)
  }

  def heldRecords: Int = synchronized(records.size)

  def onChange(listener: Runnable): Unit = synchronized { listeners = listener :: listeners }
  def removeListener(listener: Runnable): Unit = synchronized { listeners = listeners.filterNot(_ eq listener) }

  /** Tells the listeners that there are new records or that the shard is closed. Called without the lock. */
  def wake(): Unit = listeners.foreach(_.run())

  def toShard: Shard = Shard(
    id,
    parent.map(ShardId.ofIndex),
    adjacentParent.map(ShardId.ofIndex),
    range,
    SequenceNumber.trusted(startingSequenceNumber),
    closing.map(c => SequenceNumber.trusted(c.endingSequenceNumber))
  )

  def asChild: ChildShard = ChildShard(id, (parent.toSeq ++ adjacentParent).map(ShardId.ofIndex), range)
}

object ShardLog {

  /**
   * Creates a shard without records.
   *
   * @param parents
   *   the indices of its parents: none, the split or first merged shard, or both merged shards
   */
  def apply(
      index: Long,
      range: HashKeyRange,
      parents: Seq[Long],
      openedMillis: Long,
      createdSeconds: Long,
      budget: MemoryBudget
  ): ShardLog =
    new ShardLog(index, range, parents.headOption, parents.drop(1).headOption, openedMillis, createdSeconds, budget)

  /** The time and the last sequence number of a closed shard. */
  final case class Closing(millis: Long, seconds: Long, endingSequenceNumber: String)

  /** The result of `append` for a record that exceeds the write limit. */
  val Throttled: StoredRecord = new StoredRecord(null, 0, 0, null, Array.emptyByteArray, 0, null)

  // Sequence numbers of the service have gaps. An odd multiplier gives reproducible gaps of 1 to 8.
  private val SeqIxMixer = 0x9e3779b97f4a7c15L

  private def cost(record: StoredRecord): Long = record.size.toLong + MemoryBudget.RecordOverhead
}

/** The quotas of a shard. They are given with each call since they may change while the emulator runs. */
final class QuotaLimits(val policy: QuotaPolicy, val largeRecords: Boolean)

/**
 * Counts the traffic of a shard. Written under the lock of the shard; readers without the lock get approximate
 * values.
 */
final class ShardTraffic {
  @volatile var recordsIn: Long = 0
  @volatile var bytesIn: Long = 0
  @volatile var bytesOut: Long = 0
  @volatile var throttledWrites: Long = 0
  @volatile var throttledReads: Long = 0
  private val pushed = new java.util.concurrent.atomic.LongAdder

  def fannedOut(bytes: Long): Unit = pushed.add(bytes)
  def bytesFannedOut: Long = pushed.sum
}
