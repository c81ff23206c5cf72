package org.sparkkinesis.aws.putrecords

import org.sparkkinesis.aws.record.CborOutput
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.service.PutEntry

/**
 * Writes the content of a PutRecords request as CBOR, in one pass and into one array. The SDK's marshaller describes
 * each member of each record by an object, and copies the content several times.
 */
private[aws] object PutBody {
  private val Data = CborOutput.name("Data")
  private val PartitionKey = CborOutput.name("PartitionKey")
  private val ExplicitHashKey = CborOutput.name("ExplicitHashKey")
  private val Records = CborOutput.name("Records")
  private val StreamName = CborOutput.name("StreamName")
  private val StreamArn = CborOutput.name("StreamARN")

  def of(stream: StreamRef, entries: IndexedSeq[PutEntry]): CborOutput = {
    val target = stream.arn.getOrElse(stream.name)
    var most = 0
    var i = 0
    while (i < entries.size) {
      most += entries(i).size + overhead(entries(i))
      i += 1
    }
    val body = new CborOutput(
      new Array[Byte](most + 3 * CborOutput.LongestHead + Records.length + StreamName.length + target.length)
    )
    body.beginMap(2)
    body.copy(if (stream.arn.isEmpty) StreamName else StreamArn)
    body.text(target, target.length)
    body.copy(Records)
    body.beginArray(entries.size)
    i = 0
    while (i < entries.size) {
      write(body, entries(i))
      i += 1
    }
    body
  }

  private def write(body: CborOutput, entry: PutEntry): Unit = {
    body.beginMap(if (entry.explicitHashKey.isEmpty) 2 else 3)
    body.copy(Data)
    body.bytes(entry.data)
    body.copy(PartitionKey)
    body.text(entry.partitionKey, entry.size - entry.data.length)
    if (entry.explicitHashKey.isDefined) {
      body.copy(ExplicitHashKey)
      body.text(entry.explicitHashKey.get, entry.explicitHashKey.get.length)
    }
  }

  /** Maximum number of bytes that a record needs beside payload and partition key. */
  private def overhead(entry: PutEntry): Int = 3 * CborOutput.LongestHead + Data.length + PartitionKey.length +
    entry.explicitHashKey.fold(0)(key => ExplicitHashKey.length + CborOutput.LongestHead + key.length)
}
