package org.sparkkinesis.emulator.engine.stream

import java.util.concurrent.atomic.AtomicBoolean

import scala.collection.mutable

import org.sparkkinesis.emulator.engine.consumer.RegisteredConsumer
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.shard.ShardLog.Closing
import org.sparkkinesis.emulator.engine.shard.{IncomingRecord, QuotaLimits, ShardLog, ShardSet, StoredRecord}
import org.sparkkinesis.model.KinesisQuotas.{Count, Lifetime}
import org.sparkkinesis.model.{HashKeyRange, ShardId}

/**
 * One stream: its life, settings, shards and consumers. Thread-safe: changes take the stream's lock, puts and reads
 * work on the current [[ShardSet]] and take only a shard's lock.
 */
final class StreamState(
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

  /** Every shard that has not expired. */
  def shards: ShardSet = set

  /** What arrived before this time is no longer there. */
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

  /** Records may be put and read in every state but these. */
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

  /** Opens the first shards of a new stream. */
  def open(shardCount: Int, now: Long): Unit = synchronized {
    set = ShardSet(HashKeyRange.uniform(shardCount).zipWithIndex.map { case (range, i) =>
      ShardLog(i.toLong, range, Nil, now, now / 1000, host.budget)
    })
  }

  /** Enters a state, and leaves it for ACTIVE, after having done `finish`, when the configured delay is over. */
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

  /** Carries out a plan: parents close, their children open at once. */
  def reshard(plan: ReshardPlan): Unit = synchronized {
    val now = host.clock.millis
    val made = mutable.LinkedHashMap.empty[Long, ShardLog]
    def known(index: Long): ShardLog = made.getOrElse(index, set.byIndex(index).get)
    plan.created.foreach { planned =>
      // One second after the parents' end, as their own numbers tell it, so that the children's numbers are greater.
      val parentsEnd = planned.parents.map(p => math.max(now / 1000, known(p).createdSeconds)).max
      made(planned.index) = ShardLog(planned.index, planned.range, planned.parents, now, parentsEnd + 1, host.budget)
    }
    plan.closed.foreach(index => known(index).seal(now))
    set = set.plus(made.values.toSeq)
    plan.closed.foreach(index => known(index).close())
    host.store.settingsChanged(this)
  }

  /**
   * Finds the shard that takes an entry and appends it there.
   *
   * @param limits
   *   null to take it whatever the shard's write allowance says
   * @return
   *   the shard and what its `append` gave
   */
  def append(put: IncomingRecord, encryptionType: String, now: Long, limits: QuotaLimits): (ShardLog, StoredRecord) = {
    val shard = set.owner(put.hash)
    val record = shard.append(put, encryptionType, now, horizon(now), limits)
    if (record != null) {
      if (record ne ShardLog.Throttled) host.store.appended(this, shard, record) else growOnDemand()
      (shard, record)
    } else {
      // The shard has just been closed: its children are there once the resharding lets go of the lock.
      synchronized(())
      append(put, encryptionType, now, limits)
    }
  }

  // An on-demand stream that is written to faster than it can take goes on refusing while the service splits its shards.
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

  /** Counts a change of which only so many are allowed in 24 hours; false when they are used up. */
  def admitChange(kind: String, perDay: Double, now: Long): Boolean = synchronized {
    val recent = changesByKind.getOrElse(kind, Vector.empty).filter(_ > now - StreamState.DayMillis)
    val admitted = recent.size < perDay
    changesByKind(kind) = if (admitted) recent :+ now else recent
    admitted
  }

  /** Drops records and shards that are out of retention. */
  def expire(now: Long): Unit = {
    val limit = horizon(now)
    set.all.foreach(_.trim(limit))
    if (set.all.exists(isExpired(_, limit))) synchronized { set = set.without(isExpired(_, limit)) }
  }

  private def isExpired(shard: ShardLog, limit: Long): Boolean = shard.closing.exists(_.millis < limit)

  def discard(): Unit = set.all.foreach(_.discard())

  /** Puts back what was kept on disk. */
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

object StreamState {
  private val DayMillis = 24L * 3600 * 1000
}
