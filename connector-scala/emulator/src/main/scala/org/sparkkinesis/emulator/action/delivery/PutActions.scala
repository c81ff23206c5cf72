package org.sparkkinesis.emulator.action.delivery

import org.sparkkinesis.emulator.action.call.{Action, Answer, Call, Validator}
import org.sparkkinesis.emulator.document.Fields
import org.sparkkinesis.emulator.engine.delivery.DeliveryStream
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.model.FirehoseQuotas

/**
 * PutRecordBatch delivers up to 500 records. Each record is accepted or refused on its own; one malformed record fails
 * the whole call.
 */
object PutRecordBatch extends Action {
  val name = "PutRecordBatch"

  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    val streamName = DeliveryRules.name(call, validator)
    validator.present("Records")
    val records = call.fields.structures("Records").getOrElse(Vector.empty)
    if (call.fields.has("Records"))
      validator.size("Records", records.size, 1, FirehoseQuotas.Request.PutRecordBatchRecords)
    validator.check()
    val stream = call.namespace.deliveryStreams.stream(streamName.get)
    stream.requireActive()
    val data = records.zipWithIndex.map { case (record, i) =>
      DeliveryRecordRules.read(record, s"records.${i + 1}.member.")
    }
    val bytes = data.iterator.map(_.length.toLong).sum
    if (bytes > FirehoseQuotas.Request.PutRecordBatchBytes)
      throw ServiceError.invalidArgument(
        s"Records size of $bytes bytes exceeds the limit of ${FirehoseQuotas.Request.PutRecordBatchBytes} bytes"
      )
    stream.admitRequest(call.engine.policy, call.now)
    deliver(call, stream, data)
  }

  private def deliver(call: Call, stream: DeliveryStream, data: Vector[Array[Byte]]): Answer = {
    val failures = call.entryFailures(data.size, _ => null)
    val wanted = data.indices.map(i => if (failures(i) == null) data(i) else null)
    val ids = stream.deliver(wanted, call.engine.policy, call.now)
    Answer.body { reply =>
      reply.obj {
        reply.field("FailedPutCount", ids.count(_ == null).toLong)
        reply.field("Encrypted", false)
        reply.array("RequestResponses", ids.indices) { i =>
          reply.obj {
            if (ids(i) != null) reply.field("RecordId", ids(i))
            else {
              val failure = Option(failures(i)).getOrElse(DeliveryStream.SlowDown)
              reply.field("ErrorCode", failure.errorType)
              reply.field("ErrorMessage", failure.getMessage)
            }
          }
        }
      }
    }
  }
}

/** PutRecord of Amazon Data Firehose delivers one record. */
object PutDeliveryRecord extends Action {
  val name = "PutRecord"

  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    val streamName = DeliveryRules.name(call, validator)
    validator.present("Record")
    validator.check()
    val stream = call.namespace.deliveryStreams.stream(streamName.get)
    stream.requireActive()
    val data = DeliveryRecordRules.read(call.fields.structure("Record").get, "record.")
    stream.admitRequest(call.engine.policy, call.now)
    val id = stream.deliver(Vector(data), call.engine.policy, call.now).head
    if (id == null) throw DeliveryStream.SlowDown
    Answer.body { reply =>
      reply.obj {
        reply.field("RecordId", id)
        reply.field("Encrypted", false)
      }
    }
  }
}

private object DeliveryRecordRules {

  /** Reads one record. `at` is its position in the request, for error messages. */
  def read(record: Fields, at: String): Array[Byte] = {
    val data = record.blob("Data")
    if (data == null)
      throw violation("Value null", s"${at}data", "not be null")
    if (data.length > FirehoseQuotas.Record.MaxBytes)
      throw violation(
        s"Value 'java.nio.HeapByteBuffer[pos=0 lim=${data.length} cap=${data.length}]'",
        s"${at}data",
        s"have length less than or equal to ${FirehoseQuotas.Record.MaxBytes}"
      )
    data
  }

  private def violation(value: String, member: String, constraint: String): ServiceError = ServiceError.validation(
    s"1 validation error detected: $value at '$member' failed to satisfy constraint: Member must $constraint"
  )
}
