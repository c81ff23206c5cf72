package org.sparkkinesis.aws.subscription

import scala.collection.immutable.ArraySeq
import scala.collection.mutable

import org.sparkkinesis.aws.getrecords.FieldNames
import org.sparkkinesis.model.{KinesisRecord, SequenceNumber}
import org.sparkkinesis.service.ShardEvent

/**
 * Decodes the common form of a SubscribeToShardEvent: known fields, ASCII without escapes, and no child shards. A
 * general JSON parser, which decodes base64 by the character, took most of the CPU time of fan-out.
 */
private[subscription] object PlainEvent {
  private val Fields = new FieldNames(
    "Records",
    "SequenceNumber",
    "ApproximateArrivalTimestamp",
    "Data",
    "PartitionKey",
    "EncryptionType",
    "ContinuationSequenceNumber",
    "MillisBehindLatest",
    "ChildShards"
  )

  /** Returns null if the event has another form. */
  def read(bytes: Array[Byte], start: Int, length: Int): ShardEvent =
    try {
      val json = new PlainJson(bytes, start, length, Fields)
      val records = new mutable.ArrayBuilder.ofRef[KinesisRecord]
      var continuation = Option.empty[SequenceNumber]
      var millisBehindLatest = 0L
      json.map {
        case "Records" => json.array(records += record(json))
        case "ContinuationSequenceNumber" => continuation = Option(json.text()).map(SequenceNumber.trusted)
        case "MillisBehindLatest" => millisBehindLatest = json.integer()
        case "ChildShards" => json.array(throw PlainJson.Unsupported)
        case _ => throw PlainJson.Unsupported
      }
      json.end()
      ShardEvent(ArraySeq.unsafeWrapArray(records.result()), continuation, millisBehindLatest, Nil)
    } catch { case PlainJson.Unsupported => null }

  private def record(json: PlainJson): KinesisRecord = {
    var number: String = null
    var key: String = null
    var arrival = 0L
    var data: Array[Byte] = null
    var encryption: String = null
    json.map {
      case "SequenceNumber" => number = json.text()
      case "PartitionKey" => key = json.text()
      case "Data" => data = json.binary()
      case "ApproximateArrivalTimestamp" => arrival = json.thousandths()
      case "EncryptionType" => encryption = json.text()
      case _ => throw PlainJson.Unsupported
    }
    KinesisRecord.delivered(number, key, arrival, data, encryption)
  }
}
