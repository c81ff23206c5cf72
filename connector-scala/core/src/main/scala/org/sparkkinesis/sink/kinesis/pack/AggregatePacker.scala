package org.sparkkinesis.sink.kinesis.pack

import scala.collection.immutable.ArraySeq
import scala.collection.mutable

import org.sparkkinesis.aggregate.Aggregator
import org.sparkkinesis.model.{KinesisQuotas, ShardId}
import org.sparkkinesis.service.PutEntry
import org.sparkkinesis.sink.kinesis.lane.Placement
import org.sparkkinesis.sink.kinesis.put.SinkRecord

/**
 * One entry of a packed request.
 *
 * @param put
 *   what PutRecords is called with
 * @param first
 *   the index of its first record
 * @param shard
 *   for an aggregate, the shard that takes all of its records; none for a record that goes as it is, to whatever shard takes it
 */
final case class PackedEntry(put: PutEntry, first: Int, shard: Option[ShardId])

/**
 * Records of one request packed for the service.
 *
 * @param entryOf
 *   for each record the index of its entry; [[PackedRequest.LeftOut]] for one that must wait for a later request
 */
final class PackedRequest(val entries: IndexedSeq[PackedEntry], entryOf: Array[Int]) {
  private lazy val membersOf: Map[Int, Array[Int]] = entryOf.indices.toArray.groupBy(entryOf(_))

  /** Indexes of the records of an entry. */
  def members(entry: Int): Array[Int] = membersOf.getOrElse(entry, Array.emptyIntArray)

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
 * Packs records into KPL containers, each for one shard. A record whose shard is not known for sure goes as it is.
 *
 * @param keepKeysTogether
 *   all of a key's records in one entry, so that they are stored or refused together; what does not fit, or has a hash key of
 *   another shard, is left out
 */
final class AggregatePacker(maxAggregateBytes: Int, maxEntries: Int, keepKeysTogether: Boolean) {

  /** An entry that is being filled; one without an aggregator is full with its first record. */
  final private class Container(val number: Int, val shard: Option[ShardId], val first: Int, aggregator: Aggregator) {
    private var sealedEntry: PackedEntry = null

    def tryAdd(record: SinkRecord): Boolean = aggregator != null && sealedEntry == null &&
      aggregator.tryAdd(record.partitionKey, record.explicitHashKey, record.data)

    /** Nothing is added any more. A container with one record would only cost: the record goes as it is. */
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

    /** Its aggregator, emptied for the next container; this one has been sealed. */
    def freed: Aggregator = {
      aggregator.clear()
      aggregator
    }
  }

  /** @param placement where records will go; none while nothing is known, and every record goes as it is */
  def pack(records: IndexedSeq[SinkRecord], placement: Option[Placement]): PackedRequest =
    new Packing(records, placement).packed

  final private class Packing(records: IndexedSeq[SinkRecord], placement: Option[Placement]) {
    private val containers = mutable.ArrayBuffer.empty[Container]
    private val open = new Array[Container](placement.fold(0)(_.map.size))
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

    /** The container that takes the record; null when there is room for no other. */
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
        val fresh = new Container(containers.size, placement.map(_.map.shard(shard)), index, aggregator)
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
      placement.exists(known => container.shard.contains(known.map.shardOf(record.hashPoint)))

    /** The number of the record's shard; negative when that is not sure. */
    private def shardOf(record: SinkRecord): Int = placement.fold(-1) { known =>
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

  /** The KPL's own limit of a container. */
  val MaxBytes: Int = Aggregator.DefaultMaxBytes

  def apply(keepKeysTogether: Boolean, maxEntries: Int): AggregatePacker = new AggregatePacker(
    MaxBytes,
    math.min(maxEntries, KinesisQuotas.Request.PutRecordsEntries),
    keepKeysTogether
  )
}
