package org.sparkkinesis.emulator.engine.shard

import org.sparkkinesis.emulator.engine.quota.{QuotaPolicy, ShardQuota}
import org.sparkkinesis.model.{ChildShard, HashKeyRange, HashPoint, SequenceNumber, Shard, ShardId}

/**
 * One shard: its place in the lineage and its records. Thread-safe; every shard has its own lock, so shards do not wait
 * for each other. Arrival times never go back within a shard.
 *
 * @param createdSeconds
 *   the time inside its sequence numbers, one second after its parents' end
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
   * Takes a record, and tells its sequence number.
   *
   * @param limits
   *   null to take it whatever the shard's write allowance says
   * @return
   *   null when the shard has closed meanwhile, [[Throttled]] when its write allowance is used up
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

  /** Puts back a record that was kept on disk. */
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

  /** Counts a GetRecords call against the shard's read allowance. */
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
   * Records after `seqIx` that arrived at or after `horizon`: at most `maxRecords`, and until `maxBytes` are reached,
   * at least one.
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

  /** The position just before the first record at or after a time. */
  def seqIxBefore(millis: Long): Long = synchronized {
    val first = records.firstAtOrAfterTime(millis)
    if (first < records.size) records(first).seqIx - 1 else lastSeqIx
  }

  def tipSeqIx: Long = synchronized(lastSeqIx)

  /** Takes no more records from now on; readers still see it open, until [[close]]. */
  private[engine] def seal(now: Long): Unit = synchronized {
    val seconds = math.max(now / 1000, createdSeconds)
    sealing = Closing(now, seconds, SequenceNumbers.encode(createdSeconds, index, SequenceNumbers.EndSeqIx, seconds))
  }

  /** Shows readers the end of a sealed shard. Its children have to be known by now: readers ask for them at once. */
  private[engine] def close(): Unit = {
    end = sealing
    wake()
  }

  private[emulator] def restoreClosing(closing: Closing): Unit = {
    sealing = closing
    end = closing
  }

  /** Drops what is out of retention, and the oldest records while the emulator is above its memory cap. */
  def trim(horizon: Long): Unit = synchronized {
    while (records.size > 0 && records(0).arrivalMillis < horizon) drop()
    while (budget.isExceeded && isAboveFloor) {
      drop()
      budget.trimmedEarly()
    }
  }

  // However full the emulator is of other shards' records, a shard keeps its newest ones for its readers.
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

  /** Tells the listeners that there is something new; called without the lock. */
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

  /** When and with which last number a shard closed. */
  final case class Closing(millis: Long, seconds: Long, endingSequenceNumber: String)

  /** The answer of `append` for a record that the shard's write allowance does not admit. */
  val Throttled: StoredRecord = new StoredRecord(null, 0, 0, null, Array.emptyByteArray, 0, null)

  // Numbers of the service are not dense; an odd multiplier spreads the steps over 1 to 8, the same in every run.
  private val SeqIxMixer = 0x9e3779b97f4a7c15L

  private def cost(record: StoredRecord): Long = record.size.toLong + MemoryBudget.RecordOverhead
}

/** The quotas that a shard is held to, given with each call since they may be changed while the emulator runs. */
final class QuotaLimits(val policy: QuotaPolicy, val largeRecords: Boolean)

/** What went through a shard; written under the shard's lock, read by anyone who wants a rough figure. */
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
