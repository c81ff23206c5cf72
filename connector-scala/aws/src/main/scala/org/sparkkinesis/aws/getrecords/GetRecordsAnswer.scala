package org.sparkkinesis.aws.getrecords

import java.nio.ByteBuffer

import scala.collection.immutable.ArraySeq
import scala.collection.mutable
import scala.util.Try

import org.sparkkinesis.model._
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.service.RecordPage

/** Decodes the CBOR of a GetRecords response. Unknown fields are skipped. */
private[aws] object GetRecordsAnswer {

  /** Returns a failure if the captured body is not a complete GetRecords response. */
  def tryRead(captured: CapturedAnswer): Try[RecordPage] = Try(read(captured.body))

  /**
   * @throws java.io.IOException
   *   or IllegalArgumentException if the buffers do not contain a complete GetRecords response
   */
  def read(buffers: IndexedSeq[ByteBuffer]): RecordPage = {
    val cbor = new CborInput(buffers, Fields)
    val records = new mutable.ArrayBuilder.ofRef[KinesisRecord]
    val children = Seq.newBuilder[ChildShard]
    var next = Option.empty[String]
    var millisBehindLatest = 0L
    cbor.map {
      case "Records" => cbor.array(records += record(cbor))
      case "NextShardIterator" => next = Option(cbor.text())
      case "MillisBehindLatest" => millisBehindLatest = cbor.number()
      case "ChildShards" => cbor.array(children += child(cbor))
      case _ => cbor.skip()
    }
    RecordPage(ArraySeq.unsafeWrapArray(records.result()), next, millisBehindLatest, children.result())
  }

  private val Fields = new FieldNames(
    "Records",
    "SequenceNumber",
    "ApproximateArrivalTimestamp",
    "Data",
    "PartitionKey",
    "EncryptionType",
    "NextShardIterator",
    "MillisBehindLatest",
    "ChildShards"
  )

  private def record(cbor: CborInput): KinesisRecord = {
    var number: String = null
    var key: String = null
    var arrival = 0L
    var data: Array[Byte] = null
    var encryption: String = null
    cbor.map {
      case "SequenceNumber" => number = cbor.text()
      case "PartitionKey" => key = cbor.text()
      case "Data" => data = cbor.bytes()
      // The CBOR protocol has milliseconds here, with CBOR's tag for a time.
      case "ApproximateArrivalTimestamp" => arrival = cbor.number()
      case "EncryptionType" => encryption = cbor.text()
      case _ => cbor.skip()
    }
    if (number == null) throw new java.io.IOException("A record has no sequence number")
    KinesisRecord.delivered(number, key, arrival, data, encryption)
  }

  private def child(cbor: CborInput): ChildShard = {
    var id: String = null
    val parents = Seq.newBuilder[ShardId]
    var start = BigInt(0)
    var end = HashKeyRange.Max
    cbor.map {
      case "ShardId" => id = cbor.text()
      case "ParentShards" => cbor.array(parents += ShardId(cbor.text()))
      case "HashKeyRange" =>
        cbor.map {
          case "StartingHashKey" => start = BigInt(cbor.text())
          case "EndingHashKey" => end = BigInt(cbor.text())
          case _ => cbor.skip()
        }
      case _ => cbor.skip()
    }
    ChildShard(ShardId(id), parents.result(), HashKeyRange(start, end))
  }
}
