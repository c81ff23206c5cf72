package org.sparkkinesis.emulator.engine.stream

import java.util.concurrent.atomic.AtomicBoolean

import scala.collection.mutable

import org.sparkkinesis.emulator.engine.consumer.RegisteredConsumer
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.shard.ShardLog.Closing
import org.sparkkinesis.emulator.engine.shard.{IncomingRecord, QuotaLimits, ShardLog, ShardSet, StoredRecord}
import org.sparkkinesis.model.KinesisQuotas.{Count, Lifetime}
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{ShardId, StreamStatus}

/**
 * One Kinesis data stream with its status, settings, shards and consumers. Thread-safe: changes take the lock of the
 * stream; puts and reads use the current [[ShardSet]] and take only the lock of a shard.
 */
final class DataStream(
    val name: String,
    val arn: String,
    val account: String,
    val region: String,
    val createdMillis: Long,
    initialSettings: StreamSettings,
    host: StreamHost
) {
  @volatile var status: StreamStatus = StreamStatus.Creating
  @volatile private var current: StreamSettings = initialSettings
  @volatile private var set: ShardSet = ShardSet(Nil)
  @volatile private var tagMap = Map.empty[String, String]
  @volatile private var limits: QuotaLimits = _
  private val byName = mutable.LinkedHashMap.empty[String, RegisteredConsumer]
  private val growing = new AtomicBoolean
  private val changesByKind = mutable.Map.empty[String, Vector[Long]]

  def settings: StreamSettings = current
  def tags: Map[String, String] = tagMap
  def consumers: Vector[RegisteredConsumer] = synchronized(byName.values.toVector)
  def consumer(name: String): Option[RegisteredConsumer] = synchronized(byName.get(name))

  /** All shards that have not expired. */
  def shards: ShardSet = set

  /** Returns the time before which records have expired. */
  def horizon(now: Long): Long = math.max(now - current.retentionMillis, current.expiredBeforeMillis)

  def quotaLimits: QuotaLimits = {
    val policy = host.policy
    val large = current.maxRecordKiB > StreamSettings().maxRecordKiB
    val known = limits
    if (known != null && (known.policy eq policy) && known.largeRecords == large) known
    else {
      limits = new QuotaLimits(policy, large)
      limits
    }
  }

  def shard(id: ShardId): ShardLog = set
    .get(id)
    .getOrElse(throw ServiceError.resourceNotFound(s"Could not find shard $id in stream $name under account $account."))

  def requireActive(): Unit = if (status != StreamStatus.Active)
    throw ServiceError.resourceInUse(
      s"Stream $name under account $account not ACTIVE, instead in state ${status.name}"
    )

  /** Checks that records may be put and read, which is so in all states except CREATING and DELETING. */
  def requireUsable(): Unit = if (status == StreamStatus.Creating || status == StreamStatus.Deleting)
    throw ServiceError.resourceNotFound(s"Stream $name under account $account not found.")

  def update(change: StreamSettings => StreamSettings): Unit = {
    synchronized { current = change(current) }
    host.store.settingsChanged(this)
  }

  def updateTags(change: Map[String, String] => Map[String, String]): Unit = {
    synchronized { tagMap = change(tagMap) }
    host.store.settingsChanged(this)
  }

  /** Creates the first shards of a new stream. */
  def open(shardCount: Int, now: Long): Unit = synchronized {
    set = ShardSet(HashKeyRange.uniform(shardCount).zipWithIndex.map { case (range, i) =>
      ShardLog(i.toLong, range, Nil, now, now / 1000, host.budget)
    })
  }

  /** Enters a state. After the delay, runs `finish` and changes to ACTIVE. */
  def change(through: StreamStatus, delayMillis: Long)(finish: () => Unit): Unit = {
    status = through
    host.timers.afterOrNow(delayMillis) { () =>
      synchronized {
        if (status == through) {
          finish()
          status = StreamStatus.Active
        }
      }
      host.store.settingsChanged(this)
    }
  }

  /** Executes a plan: closes parents and opens their children at the same time. */
  def reshard(plan: ReshardPlan): Unit = synchronized {
    val now = host.clock.millis
    val made = mutable.LinkedHashMap.empty[Long, ShardLog]
    def known(index: Long): ShardLog = made.getOrElse(index, set.byIndex(index).get)
    plan.created.foreach { planned =>
      // One second after the end of the parents, so that the children's sequence numbers are greater.
      val parentsEnd = planned.parents.map(p => math.max(now / 1000, known(p).createdSeconds)).max
      made(planned.index) = ShardLog(planned.index, planned.range, planned.parents, now, parentsEnd + 1, host.budget)
    }
    plan.closed.foreach(index => known(index).seal(now))
    set = set.plus(made.values.toSeq)
    plan.closed.foreach(index => known(index).close())
    host.store.settingsChanged(this)
  }

  /**
   * Appends an entry to the shard for its hash.
   *
   * @param limits
   *   null to ignore the write limits
   * @return
   *   the shard and the result of its `append`
   */
  def append(put: IncomingRecord, encryptionType: String, now: Long, limits: QuotaLimits): (ShardLog, StoredRecord) = {
    val shard = set.owner(put.hash)
    val record = shard.append(put, encryptionType, now, horizon(now), limits)
    if (record != null) {
      if (record ne ShardLog.Throttled) host.store.appended(this, shard, record) else growOnDemand()
      (shard, record)
    } else {
      // The shard has just been closed. Its children exist once the resharding releases the lock.
      synchronized(())
      append(put, encryptionType, now, limits)
    }
  }

  // A throttled on-demand stream continues to throttle until the service has split its shards.
  private def growOnDemand(): Unit = if (current.onDemand && growing.compareAndSet(false, true)) {
    host.timers.after(Lifetime.OnDemandScaling.toMillis) { () =>
      growing.set(false)
      val target = math.min(set.openCount * 2, Count.ShardsByUpdateShardCount)
      if (current.onDemand && status == StreamStatus.Active)
        reshard(Resharding.uniform(set.openShards.map(s => PlannedShard(s.index, s.range, Nil)), target, set.nextIndex))
    }
    ()
  }

  def addConsumer(consumer: RegisteredConsumer): Unit = {
    synchronized { byName(consumer.name) = consumer }
    host.store.settingsChanged(this)
  }

  def removeConsumer(consumer: RegisteredConsumer): Unit = {
    synchronized(byName.remove(consumer.name))
    host.store.settingsChanged(this)
  }

  /** Counts a change that is limited to a number in 24 hours. Returns false if the limit is reached. */
  def admitChange(kind: String, perDay: Double, now: Long): Boolean = synchronized {
    val recent = changesByKind.getOrElse(kind, Vector.empty).filter(_ > now - DataStream.DayMillis)
    val admitted = recent.size < perDay
    changesByKind(kind) = if (admitted) recent :+ now else recent
    admitted
  }

  /** Drops expired records and shards. */
  def expire(now: Long): Unit = {
    val limit = horizon(now)
    set.all.foreach(_.trim(limit))
    if (set.all.exists(isExpired(_, limit))) synchronized { set = set.without(isExpired(_, limit)) }
  }

  private def isExpired(shard: ShardLog, limit: Long): Boolean = shard.closing.exists(_.millis < limit)

  def discard(): Unit = set.all.foreach(_.discard())

  /** Restores the state from disk. */
  private[emulator] def restore(
      shards: Seq[(ShardLog, Option[Closing])],
      tags: Map[String, String],
      consumers: Seq[RegisteredConsumer]
  ): Unit = synchronized {
    shards.foreach { case (shard, closing) => closing.foreach(shard.restoreClosing) }
    set = ShardSet(shards.map(_._1))
    tagMap = tags
    consumers.foreach(c => byName(c.name) = c)
    status = StreamStatus.Active
  }
}

object DataStream {
  private val DayMillis = 24L * 3600 * 1000
}
