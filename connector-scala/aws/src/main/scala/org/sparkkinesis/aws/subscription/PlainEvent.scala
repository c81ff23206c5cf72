package org.sparkkinesis.aws.subscription

import org.sparkkinesis.aws.record.{FieldReader, RecordFields}
import org.sparkkinesis.model.SequenceNumber
import org.sparkkinesis.service.SubscribeToShardEvent

/**
 * Decodes the common form of a SubscribeToShardEvent: known fields, ASCII without escapes, and no child shards. A
 * general JSON parser, which decodes base64 by the character, took most of the CPU time of fan-out.
 */
private[subscription] object PlainEvent {

  /** Returns null if the event has another form. */
  def read(bytes: Array[Byte], start: Int, length: Int): SubscribeToShardEvent =
    try new Reader(new PlainJson(bytes, start, length), length).event()
    catch { case PlainJson.Unsupported | _: IllegalArgumentException => null }

  final private class Reader(json: PlainJson, length: Int) extends FieldReader {
    private val records = new RecordFields(json, RecordFields.expectedRows(length.toLong))
    private var continuation = Option.empty[SequenceNumber]
    private var millisBehindLatest = 0L

    def event(): SubscribeToShardEvent = {
      json.map(this)
      json.end()
      SubscribeToShardEvent(records.result(), continuation, millisBehindLatest, Nil)
    }

    override def read(field: Int): Unit = field match {
      case RecordFields.Records => records.readAll()
      case RecordFields.Continuation => continuation = Option(json.text()).map(SequenceNumber.trusted)
      case RecordFields.MillisBehindLatest => millisBehindLatest = json.integer()
      case RecordFields.ChildShards => json.array(throw PlainJson.Unsupported)
      case _ => json.skip()
    }
  }
}
