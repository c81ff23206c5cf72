package org.sparkkinesis.sink.kinesis.pack

import scala.collection.immutable.ArraySeq
import scala.collection.mutable

import org.sparkkinesis.aggregate.Aggregator
import org.sparkkinesis.model.{KinesisQuotas, ShardId}
import org.sparkkinesis.service.PutEntry
import org.sparkkinesis.sink.kinesis.lane.ShardPrediction
import org.sparkkinesis.sink.kinesis.put.SinkRecord

/**
 * One entry of a packed request.
 *
 * @param put
 *   entry of the PutRecords request
 * @param first
 *   index of its first record
 * @param shard
 *   for an aggregate, the shard that accepts all its records; `None` for a plain record
 */
final case class PackedEntry(put: PutEntry, first: Int, shard: Option[ShardId])

/**
 * The records of one request, packed for PutRecords.
 *
 * @param entryOf
 *   index of the entry of each record, or [[PackedRequest.LeftOut]] for a record that must wait for a later request
 */
final class PackedRequest(val entries: IndexedSeq[PackedEntry], entryOf: Array[Int]) {
  private lazy val membersOf: Map[Int, Array[Int]] = entryOf.indices.toArray.groupBy(entryOf(_))

  /** Indexes of the records in an entry. */
  def members(entry: Int): Array[Int] = membersOf.getOrElse(entry, Array.emptyIntArray)

  /** Returns the value of its entry for each record, and `leftOut` for records without an entry. */
  def spread[A](ofEntries: IndexedSeq[A], leftOut: A): IndexedSeq[A] =
    ArraySeq.untagged.tabulate(entryOf.length) { record =>
      if (entryOf(record) == PackedRequest.LeftOut) leftOut else ofEntries(entryOf(record))
    }
}

object PackedRequest {
  val LeftOut: Int = -1
}

/**
 * Packs records into KPL aggregates, each for one shard. A record whose shard is not certain stays a plain record.
 *
 * @param keepKeysTogether
 *   puts all records with the same key into one entry, so that they are stored or rejected together; records that do
 *   not fit, or belong to another shard, are left out
 */
final class AggregatePacker(maxAggregateBytes: Int, maxEntries: Int, keepKeysTogether: Boolean) {

  /** An entry under construction. Without an aggregator it contains one record. */
  final private class Container(val number: Int, val shard: Option[ShardId], val first: Int, aggregator: Aggregator) {
    private var sealedEntry: PackedEntry = null

    def tryAdd(record: SinkRecord): Boolean = aggregator != null && sealedEntry == null &&
      aggregator.tryAdd(record.partitionKey, record.explicitHashKey, record.data)

    /** Completes the entry. An aggregate of one record would only add overhead, so the record stays plain. */
    def entry(record: SinkRecord): PackedEntry = {
      if (sealedEntry == null)
        sealedEntry =
          if (aggregator == null || aggregator.count == 1)
            PackedEntry(PutEntry(record.partitionKey, record.explicitHashKey, record.data), first, None)
          else {
            val put =
              PutEntry(Aggregator.OuterPartitionKey, Some(record.hashPoint.toBigInt.toString), aggregator.result())
            PackedEntry(put, first, shard)
          }
      sealedEntry
    }

    /** Returns the cleared aggregator for the next aggregate. This entry must be complete. */
    def freed: Aggregator = {
      aggregator.clear()
      aggregator
    }
  }

  /** @param prediction predicts the shards of records; without it, every record stays plain */
  def pack(records: IndexedSeq[SinkRecord], prediction: Option[ShardPrediction]): PackedRequest =
    new Packing(records, prediction).packed

  final private class Packing(records: IndexedSeq[SinkRecord], prediction: Option[ShardPrediction]) {
    private val containers = mutable.ArrayBuffer.empty[Container]
    private val open = new Array[Container](prediction.fold(0)(_.map.size))
    private val ofKey = new java.util.HashMap[String, Option[Container]]
    private val entryOf = new Array[Int](records.size)

    def packed: PackedRequest = {
      var index = 0
      while (index < entryOf.length) {
        val record = records(index)
        val container = if (keepKeysTogether) placeByKey(record, index) else place(record, index)
        entryOf(index) = if (container == null) PackedRequest.LeftOut else container.number
        index += 1
      }
      new PackedRequest(containers.map(container => container.entry(records(container.first))).toIndexedSeq, entryOf)
    }

    /** Returns the aggregate or entry that accepts the record, or null if there is no room for another entry. */
    private def place(record: SinkRecord, index: Int): Container = {
      val shard = shardOf(record)
      val current = if (shard < 0) null else open(shard)
      if (current != null && current.tryAdd(record)) current
      else if (containers.size == maxEntries) null
      else if (shard < 0) add(new Container(containers.size, None, index, null))
      else {
        val aggregator =
          if (current == null || keepKeysTogether) new Aggregator(maxAggregateBytes)
          else {
            current.entry(records(current.first))
            current.freed
          }
        val fresh = new Container(containers.size, prediction.map(_.map.shard(shard)), index, aggregator)
        fresh.tryAdd(record)
        open(shard) = fresh
        add(fresh)
      }
    }

    private def placeByKey(record: SinkRecord, index: Int): Container = {
      val known = ofKey.get(record.partitionKey)
      val found =
        if (known == null) Option(place(record, index))
        else known.filter(container => isFor(container, record) && container.tryAdd(record))
      ofKey.put(record.partitionKey, found)
      found.orNull
    }

    private def isFor(container: Container, record: SinkRecord): Boolean =
      prediction.exists(known => container.shard.contains(known.map.shardOf(record.hashPoint)))

    /** Returns the number of the record's shard, or a negative number if it is not certain. */
    private def shardOf(record: SinkRecord): Int = prediction.fold(-1) { known =>
      val index = known.map.indexOf(record.hashPoint)
      if (known.isDoubtful(known.map.shard(index))) -1 else index
    }

    private def add(container: Container): Container = {
      containers += container
      container
    }
  }
}

object AggregatePacker {

  /** The KPL's size limit of an aggregate in bytes. */
  val MaxBytes: Int = Aggregator.DefaultMaxBytes

  def apply(keepKeysTogether: Boolean, maxEntries: Int): AggregatePacker = new AggregatePacker(
    MaxBytes,
    math.min(maxEntries, KinesisQuotas.Request.PutRecordsEntries),
    keepKeysTogether
  )
}
