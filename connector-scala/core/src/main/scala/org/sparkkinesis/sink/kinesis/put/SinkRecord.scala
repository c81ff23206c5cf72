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

  private var knownMap: ShardMap = null
  private var knownNumber = 0

  /**
   * The number of the record's shard in this map. The last result is kept, because a record is asked for it when it is
   * written and when it is sent. Unlike [[hashPoint]], for one thread at a time.
   */
  def shardIn(map: ShardMap): Int = {
    if (knownMap ne map) {
      knownNumber = map.indexOf(hashPoint)
      knownMap = map
    }
    knownNumber
  }
}
