package org.sparkkinesis.sink.kinesis.put

import org.sparkkinesis.model.{HashKey, HashPoint, Utf8}

/** A record on its way to a stream; checked already, see [[RecordRules]]. The payload is not changed any more. */
final class SinkRecord(val partitionKey: String, val explicitHashKey: Option[String], val data: Array[Byte]) {

  /** As the service counts it: payload and the key's UTF-8 bytes. */
  val size: Int = data.length + Utf8.length(partitionKey)

  private var knownPoint: HashPoint = null

  /** Where it falls in the key space. Found once; by two threads at the same time twice, which is as well. */
  def hashPoint: HashPoint = {
    // Read once: of two reads without a lock the second may be the older one.
    var point = knownPoint
    if (point == null) {
      point = explicitHashKey.flatMap(HashKey.parse).fold(HashPoint.ofPartitionKey(partitionKey))(HashPoint.of)
      knownPoint = point
    }
    point
  }
}
