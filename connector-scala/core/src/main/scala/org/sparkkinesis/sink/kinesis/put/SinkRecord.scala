package org.sparkkinesis.sink.kinesis.put

import org.sparkkinesis.model.hash.{HashKey, HashPoint}
import org.sparkkinesis.service.PutEntry
import org.sparkkinesis.shard.ShardMap

/** A valid record for a stream, see [[RecordRules]]. The payload must not be modified. */
final class SinkRecord(val partitionKey: String, val explicitHashKey: Option[String], val data: Array[Byte])
    extends PutEntry {
  override val size: Int = PutEntry.sizeOf(partitionKey, data)

  private var knownPoint: HashPoint = null

  /** Position in the key space. It is computed once; two concurrent threads may compute it twice, which is harmless. */
  def hashPoint: HashPoint = {
    // The field is read once, because the second of two reads without a lock may return an older value.
    var point = knownPoint
    if (point == null) {
      point =
        if (explicitHashKey.isEmpty) HashPoint.ofPartitionKey(partitionKey)
        else explicitHashKey.flatMap(HashKey.parse).fold(HashPoint.ofPartitionKey(partitionKey))(HashPoint.of)
      knownPoint = point
    }
    point
  }

  private var knownShard: SinkRecord.KnownShard = null

  /**
   * The number of the record's shard in this map. The last result is kept, because a record is asked for it when it is
   * written and when it is sent. A record whose writer has failed may be sent in one thread while another one writes it
   * to the next stream.
   */
  def shardIn(map: ShardMap): Int = {
    val known = knownShard
    if (known != null && (known.map eq map)) known.number
    else {
      val number = map.indexOf(hashPoint)
      knownShard = new SinkRecord.KnownShard(map, number)
      number
    }
  }
}

private object SinkRecord {

  /** The number of a record's shard in a map. Immutable, so that threads without a lock never see parts of two. */
  final class KnownShard(val map: ShardMap, val number: Int)
}
