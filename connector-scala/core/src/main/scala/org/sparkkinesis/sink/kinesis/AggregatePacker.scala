package org.sparkkinesis.sink.kinesis

import scala.collection.mutable

import org.sparkkinesis.aggregate.Aggregator
import org.sparkkinesis.model.{KinesisQuotas, ShardId}
import org.sparkkinesis.service.PutEntry

/**
 * Records of one request packed for the service.
 *
 * @param entries
 *   what PutRecords is called with
 * @param members
 *   for each entry the indexes of the records in it
 * @param shards
 *   for each entry the shard that it is meant for
 * @param leftOut
 *   indexes of records that must wait for a later request
 */
final case class PackedRequest(
    entries: IndexedSeq[PutEntry],
    members: IndexedSeq[IndexedSeq[Int]],
    shards: IndexedSeq[ShardId],
    leftOut: IndexedSeq[Int]
)

/**
 * Packs records into KPL containers, each for one shard.
 *
 * @param keepKeysTogether
 *   all of a key's records in one container, so that they are stored or refused together; what does not fit is left out
 */
final class AggregatePacker(maxAggregateBytes: Int, maxEntries: Int, keepKeysTogether: Boolean) {

  final private class Container(val shard: ShardId) {
    val aggregator = new Aggregator(maxAggregateBytes)
    val members = mutable.ArrayBuffer.empty[Int]

    def tryAdd(record: SinkRecord, index: Int): Boolean = {
      val added = aggregator.tryAdd(record.partitionKey, record.explicitHashKey, record.data)
      if (added) members += index
      added
    }
  }

  def pack(records: IndexedSeq[SinkRecord], map: ShardMap): PackedRequest = {
    val containers = mutable.ArrayBuffer.empty[Container]
    val open = new Array[Container](map.size)
    val ofKey = mutable.HashMap.empty[String, Option[Container]]
    val leftOut = mutable.ArrayBuffer.empty[Int]

    def place(record: SinkRecord, index: Int): Option[Container] = {
      val shard = map.indexOf(record.hashPoint)
      if (open(shard) != null && open(shard).tryAdd(record, index)) Some(open(shard))
      else
        Option.when(containers.size < maxEntries) {
          val fresh = new Container(map.shard(shard))
          fresh.tryAdd(record, index)
          containers += fresh
          open(shard) = fresh
          fresh
        }
    }

    records.iterator.zipWithIndex.foreach { case (record, index) =>
      val container =
        if (!keepKeysTogether) place(record, index)
        else
          ofKey.get(record.partitionKey) match {
            case Some(known) => known.filter(_.tryAdd(record, index))
            case None => place(record, index)
          }
      if (keepKeysTogether) ofKey.update(record.partitionKey, container)
      if (container.isEmpty) leftOut += index
    }
    PackedRequest(
      containers.map(container => entryOf(container, records)).toIndexedSeq,
      containers.map(_.members.toIndexedSeq).toIndexedSeq,
      containers.map(_.shard).toIndexedSeq,
      leftOut.toIndexedSeq
    )
  }

  /** A container with one record would only cost: the record goes as it is. */
  private def entryOf(container: Container, records: IndexedSeq[SinkRecord]): PutEntry = {
    val first = records(container.members.head)
    if (container.members.size == 1) PutEntry(first.partitionKey, first.explicitHashKey, first.data)
    else PutEntry(Aggregator.OuterPartitionKey, Some(first.hashPoint.toBigInt.toString), container.aggregator.result())
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
