package org.sparkkinesis.sink.kinesis

import scala.collection.immutable.ArraySeq
import scala.collection.mutable

import org.sparkkinesis.aggregate.Aggregator
import org.sparkkinesis.model.{KinesisQuotas, ShardId}
import org.sparkkinesis.service.PutEntry
import org.sparkkinesis.shard.ShardMap

/**
 * Records of one request packed for the service.
 *
 * @param entries
 *   what PutRecords is called with
 * @param shards
 *   for each entry the shard that it is meant for
 * @param firsts
 *   for each entry the index of the first record in it
 * @param entryOf
 *   for each record the index of its entry; [[PackedRequest.LeftOut]] for one that must wait for a later request
 */
final class PackedRequest(
    val entries: IndexedSeq[PutEntry],
    val shards: IndexedSeq[ShardId],
    val firsts: IndexedSeq[Int],
    entryOf: Array[Int]
) {

  /** Indexes of the records of an entry. */
  def members(entry: Int): Seq[Int] = entryOf.indices.filter(entryOf(_) == entry)

  /** One for each record, as its entry's; `leftOut` for those that are in none. */
  def spread[A](ofEntries: IndexedSeq[A], leftOut: A): IndexedSeq[A] =
    ArraySeq.untagged.tabulate(entryOf.length) { record =>
      if (entryOf(record) == PackedRequest.LeftOut) leftOut else ofEntries(entryOf(record))
    }
}

object PackedRequest {
  val LeftOut: Int = -1
}

/**
 * Packs records into KPL containers, each for one shard.
 *
 * @param keepKeysTogether
 *   all of a key's records in one container, so that they are stored or refused together; what does not fit, or has a hash
 *   key of another shard, is left out
 */
final class AggregatePacker(maxAggregateBytes: Int, maxEntries: Int, keepKeysTogether: Boolean) {

  final private class Container(
      val number: Int,
      val shard: ShardId,
      val first: Int,
      aggregator: Aggregator
  ) {
    private var sealedEntry: PutEntry = null

    def tryAdd(record: SinkRecord): Boolean =
      aggregator.tryAdd(record.partitionKey, record.explicitHashKey, record.data)

    /** Nothing is added any more. A container with one record would only cost: the record goes as it is. */
    def entry(first: SinkRecord): PutEntry = {
      if (sealedEntry == null)
        sealedEntry =
          if (aggregator.count == 1) PutEntry(first.partitionKey, first.explicitHashKey, first.data)
          else PutEntry(Aggregator.OuterPartitionKey, Some(first.hashPoint.toBigInt.toString), aggregator.result())
      sealedEntry
    }

    /** Its aggregator, emptied for the next container; this one has been sealed. */
    def freed: Aggregator = {
      aggregator.clear()
      aggregator
    }
  }

  def pack(records: IndexedSeq[SinkRecord], map: ShardMap): PackedRequest = {
    val containers = mutable.ArrayBuffer.empty[Container]
    val open = new Array[Container](map.size)
    val ofKey = new java.util.HashMap[String, Option[Container]]
    val entryOf = new Array[Int](records.size)

    /** The shard's open container when the record fits, else a fresh one; null when there is room for no other. */
    def place(record: SinkRecord, index: Int): Container = {
      val shard = map.indexOf(record.hashPoint)
      val current = open(shard)
      if (current != null && current.tryAdd(record)) current
      else if (containers.size == maxEntries) null
      else {
        val aggregator =
          if (current == null || keepKeysTogether) new Aggregator(maxAggregateBytes)
          else {
            current.entry(records(current.first))
            current.freed
          }
        val fresh = new Container(containers.size, map.shard(shard), index, aggregator)
        fresh.tryAdd(record)
        containers += fresh
        open(shard) = fresh
        fresh
      }
    }

    def placeByKey(record: SinkRecord, index: Int): Container = {
      val known = ofKey.get(record.partitionKey)
      val found =
        if (known == null) Option(place(record, index))
        else known.filter(_.shard == map.shardOf(record.hashPoint)).filter(_.tryAdd(record))
      ofKey.put(record.partitionKey, found)
      found.orNull
    }

    var index = 0
    while (index < entryOf.length) {
      val record = records(index)
      val container = if (keepKeysTogether) placeByKey(record, index) else place(record, index)
      entryOf(index) = if (container == null) PackedRequest.LeftOut else container.number
      index += 1
    }
    new PackedRequest(
      containers.map(container => container.entry(records(container.first))).toIndexedSeq,
      containers.map(_.shard).toIndexedSeq,
      containers.map(_.first).toIndexedSeq,
      entryOf
    )
  }
}

object AggregatePacker {

  /** The KPL's own limit of a container. */
  val MaxBytes: Int = Aggregator.DefaultMaxBytes

  def apply(keepKeysTogether: Boolean, maxEntries: Int): AggregatePacker = new AggregatePacker(
    MaxBytes,
    math.min(maxEntries, KinesisQuotas.Request.PutRecordsEntries),
    keepKeysTogether
  )
}
