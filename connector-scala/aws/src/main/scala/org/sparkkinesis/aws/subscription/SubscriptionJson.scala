package org.sparkkinesis.aws.subscription

import java.io.StringWriter
import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.immutable.ArraySeq
import scala.collection.mutable
import scala.util.Using

import com.fasterxml.jackson.core.{JsonFactory, JsonParser, JsonToken}

import org.sparkkinesis.model._
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.service.SubscribeToShardEvent

/** Encodes and decodes the JSON of SubscribeToShard: request and events. */
private[aws] object SubscriptionJson {
  private val factory = new JsonFactory

  def request(consumerArn: String, shard: ShardId, position: StartingPosition): Array[Byte] = {
    val text = new StringWriter
    Using.resource(factory.createGenerator(text)) { json =>
      json.writeStartObject()
      json.writeStringField("ConsumerARN", consumerArn)
      json.writeStringField("ShardId", shard.value)
      json.writeObjectFieldStart("StartingPosition")
      position match {
        case StartingPosition.TrimHorizon => json.writeStringField("Type", "TRIM_HORIZON")
        case StartingPosition.Latest => json.writeStringField("Type", "LATEST")
        case StartingPosition.AtTimestamp(millis) =>
          json.writeStringField("Type", "AT_TIMESTAMP")
          // Seconds, with milliseconds as decimals.
          json.writeNumberField("Timestamp", java.math.BigDecimal.valueOf(millis, 3))
        case StartingPosition.AtSequenceNumber(number) =>
          json.writeStringField("Type", "AT_SEQUENCE_NUMBER")
          json.writeStringField("SequenceNumber", number.value)
        case StartingPosition.AfterSequenceNumber(number) =>
          json.writeStringField("Type", "AFTER_SEQUENCE_NUMBER")
          json.writeStringField("SequenceNumber", number.value)
      }
      json.writeEndObject()
      json.writeEndObject()
    }
    text.toString.getBytes(UTF_8)
  }

  /** Decodes a SubscribeToShardEvent. Unknown fields are skipped. */
  def event(bytes: Array[Byte], start: Int, length: Int): SubscribeToShardEvent = {
    val plain = PlainEvent.read(bytes, start, length)
    if (plain != null) plain else anyEvent(bytes, start, length)
  }

  /** Decodes any event, also with escapes, child shards and unknown fields. */
  private[subscription] def anyEvent(bytes: Array[Byte], start: Int, length: Int): SubscribeToShardEvent =
    Using.resource(factory.createParser(bytes, start, length)) { json =>
      var records: IndexedSeq[KinesisRecord] = IndexedSeq.empty
      var continuation: Option[SequenceNumber] = None
      var millisBehindLatest = 0L
      var children: Seq[ChildShard] = Nil
      json.nextToken()
      fields(json) {
        case "Records" => records = ArraySeq.unsafeWrapArray(array(json)(record(json)).toArray)
        case "ContinuationSequenceNumber" => continuation = Option(text(json)).map(SequenceNumber.trusted)
        case "MillisBehindLatest" => millisBehindLatest = json.getValueAsLong
        case "ChildShards" => children = array(json)(child(json)).toVector
        case _ => json.skipChildren()
      }
      SubscribeToShardEvent(records, continuation, millisBehindLatest, children)
    }

  private def record(json: JsonParser): KinesisRecord = {
    var number: String = null
    var key: String = null
    var arrival = 0L
    var data: Array[Byte] = Array.emptyByteArray
    var encryption: String = null
    fields(json) {
      case "SequenceNumber" => number = text(json)
      case "PartitionKey" => key = text(json)
      case "Data" => if (json.currentToken != JsonToken.VALUE_NULL) data = json.getBinaryValue
      case "ApproximateArrivalTimestamp" => arrival = Math.round(json.getValueAsDouble * 1000)
      case "EncryptionType" => encryption = text(json)
      case _ => json.skipChildren()
    }
    KinesisRecord.delivered(number, key, arrival, data, encryption)
  }

  private def child(json: JsonParser): ChildShard = {
    var id: String = null
    var parents: Seq[ShardId] = Nil
    var start = BigInt(0)
    var end = HashKeyRange.Max
    fields(json) {
      case "ShardId" => id = text(json)
      case "ParentShards" => parents = array(json)(ShardId(text(json))).toVector
      case "HashKeyRange" =>
        fields(json) {
          case "StartingHashKey" => start = BigInt(text(json))
          case "EndingHashKey" => end = BigInt(text(json))
          case _ => json.skipChildren()
        }
      case _ => json.skipChildren()
    }
    ChildShard(ShardId(id), parents, HashKeyRange(start, end))
  }

  /** Calls `field` with each name, with the parser at the value. */
  private def fields(json: JsonParser)(field: String => Unit): Unit =
    if (json.currentToken == JsonToken.START_OBJECT) while (json.nextToken() == JsonToken.FIELD_NAME) {
      val name = json.currentName
      json.nextToken()
      field(name)
    }

  private def array[A](json: JsonParser)(element: => A): mutable.ArrayBuffer[A] = {
    val elements = mutable.ArrayBuffer.empty[A]
    if (json.currentToken == JsonToken.START_ARRAY) while (json.nextToken() != JsonToken.END_ARRAY) elements += element
    elements
  }

  private def text(json: JsonParser): String = if (json.currentToken == JsonToken.VALUE_NULL) null else json.getText
}
