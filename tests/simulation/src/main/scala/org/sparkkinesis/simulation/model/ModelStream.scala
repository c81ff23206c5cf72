package org.sparkkinesis.simulation.model

import scala.collection.mutable

import org.sparkkinesis.model._

/** One record as the service keeps it. */
final case class StoredRecord(id: Long, record: KinesisRecord)

/**
 * One shard of a [[ModelStream]]: its records in order, also those that have expired.
 *
 * @param createdMillis
 *   on the service's clock
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

  /** Sequence numbers of one shard share this prefix, which is greater for shards that were created later. */
  private val base: Long = createdMillis / 1000
  def isOpen: Boolean = closedMillis.isEmpty
  def number(position: Long): SequenceNumber =
    SequenceNumber(f"49${base}%011d${index}%06d${position * 10}%012d")
  def startingNumber: SequenceNumber = number(0)

  /** A number after everything that is stored, and before what comes next. */
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
 *   counts how often a stream of this name was created before
 */
final class ModelStream(
    val name: String,
    val arn: String,
    val generation: Int,
    val creationMillis: Long,
    val retentionHours: Int,
    shardCount: Int
) {
  val shards: mutable.ArrayBuffer[ModelShard] = mutable.ArrayBuffer.empty
  private var changes = Vector.empty[Long]
  HashKeyRange.uniform(shardCount).foreach(add(Nil, _, creationMillis))

  def retentionMillis: Long = retentionHours * 3600000L

  def shard(id: ShardId): Option[ModelShard] = shards.find(_.id == id)
  def open: Seq[ModelShard] = shards.iterator.filter(_.isOpen).toVector.sortBy(_.range.start)

  /** When the shards changed, oldest first. */
  def changeTimes: Seq[Long] = changes

  /** The open shard that takes this hash key. */
  def shardOf(hash: BigInt): ModelShard = shards.iterator.filter(_.isOpen).find(_.range.contains(hash)).get

  def isExpired(shard: ModelShard, now: Long): Boolean = shard.closedMillis.exists(_ + retentionMillis <= now)

  /** Moves the shard's horizon to what the retention leaves at this moment. */
  def trim(shard: ModelShard, now: Long): Unit = {
    val horizon = now - retentionMillis
    while (shard.trimmed < shard.records.size && shard.records(shard.trimmed).record.arrivalMillis < horizon)
      shard.trimmed += 1
  }

  /** Splits at the middle of the range. */
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
