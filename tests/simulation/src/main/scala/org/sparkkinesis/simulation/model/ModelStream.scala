package org.sparkkinesis.simulation.model

import scala.collection.mutable

import org.sparkkinesis.model._
import org.sparkkinesis.model.hash.HashKeyRange

/** A record as the service stores it. */
final case class StoredRecord(id: Long, record: KinesisRecord)

/**
 * One shard of a [[ModelStream]]: its records in order, including expired ones.
 *
 * @param createdMillis
 *   creation time on the service's clock
 */
final class ModelShard(
    val index: Int,
    val parents: Seq[ShardId],
    val range: HashKeyRange,
    val createdMillis: Long
) {
  val id: ShardId = ShardId.ofIndex(index.toLong)
  val records: mutable.ArrayBuffer[StoredRecord] = mutable.ArrayBuffer.empty
  var closedMillis: Option[Long] = None
  var children: Seq[ModelShard] = Nil

  /** Index of the oldest record that has not expired; only [[ModelStream.trim]] moves it. */
  var trimmed = 0

  /** The common prefix of the shard's sequence numbers, which is greater for shards that were created later. */
  private val base: Long = createdMillis / 1000
  def isOpen: Boolean = closedMillis.isEmpty
  def number(position: Long): SequenceNumber =
    SequenceNumber(f"49${base}%011d${index}%06d${position * 10}%012d")
  def startingNumber: SequenceNumber = number(0)

  /** Returns a sequence number after every stored record and before the next one. */
  def continuation: SequenceNumber = SequenceNumber(f"49${base}%011d${index}%06d${records.size * 10L + 5}%012d")

  def describe: Shard = Shard(
    id,
    parents.headOption,
    parents.lift(1),
    range,
    startingNumber,
    closedMillis.map(_ => SequenceNumber(f"49${base}%011d${index}%06d${999999999999L}%012d"))
  )

  def asChild: ChildShard = ChildShard(id, parents, range)
}

/**
 * A stream with its shards, lineage and retention. All times are the service's.
 *
 * @param generation
 *   number of earlier streams of this name
 */
final class ModelStream(
    val name: String,
    val arn: String,
    val generation: Int,
    val creationMillis: Long,
    var retentionHours: Int,
    shardCount: Int
) {
  val shards: mutable.ArrayBuffer[ModelShard] = mutable.ArrayBuffer.empty
  private var changes = Vector.empty[Long]
  HashKeyRange.uniform(shardCount).foreach(add(Nil, _, creationMillis))

  /** Identifies the stream among all streams, including deleted ones of the same name. */
  val life: String = s"$arn#$generation"

  def retentionMillis: Long = retentionHours * 3600000L

  def shard(id: ShardId): Option[ModelShard] = shards.find(_.id == id)
  def open: Seq[ModelShard] = shards.iterator.filter(_.isOpen).toVector.sortBy(_.range.start)

  /** Returns the shards from which a shard descends. */
  def ancestors(id: ShardId): Set[ShardId] =
    shard(id).fold(Set.empty[ShardId])(_.parents.flatMap(parent => ancestors(parent) + parent).toSet)

  /** The times of the changes of shards, oldest first. */
  def changeTimes: Seq[Long] = changes

  /** Returns the open shard for this hash key. */
  def shardOf(hash: BigInt): ModelShard = shards.iterator.filter(_.isOpen).find(_.range.contains(hash)).get

  def isExpired(shard: ModelShard, now: Long): Boolean = shard.closedMillis.exists(_ + retentionMillis <= now)

  /** Advances the shard's horizon according to the retention period. */
  def trim(shard: ModelShard, now: Long): Unit = {
    val horizon = now - retentionMillis
    while (shard.trimmed < shard.records.size && shard.records(shard.trimmed).record.arrivalMillis < horizon)
      shard.trimmed += 1
  }

  /** Splits the shard in the middle of its range. */
  def split(shard: ModelShard, now: Long): Unit = {
    val middle = (shard.range.start + shard.range.end) / 2
    val ranges = Seq(HashKeyRange(shard.range.start, middle), HashKeyRange(middle + 1, shard.range.end))
    replace(Seq(shard), ranges, now)
  }

  def merge(one: ModelShard, other: ModelShard, now: Long): Unit =
    replace(Seq(one, other), Seq(one.range.union(other.range)), now)

  private def replace(parents: Seq[ModelShard], ranges: Seq[HashKeyRange], now: Long): Unit = {
    val created = ranges.map(add(parents.map(_.id), _, now + 1000))
    parents.foreach { parent =>
      parent.closedMillis = Some(now)
      parent.children = created
    }
    changes :+= now
  }

  private def add(parents: Seq[ShardId], range: HashKeyRange, now: Long): ModelShard = {
    val shard = new ModelShard(shards.size, parents, range, now)
    shards += shard
    shard
  }
}
