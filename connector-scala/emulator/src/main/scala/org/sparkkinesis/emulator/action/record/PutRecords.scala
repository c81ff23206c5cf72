package org.sparkkinesis.emulator.action.record

import org.sparkkinesis.emulator.action.call.{Action, Answer, Call, Validator}
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.shard.{IncomingRecord, ShardLog, StoredRecord}
import org.sparkkinesis.emulator.engine.stream.DataStream
import org.sparkkinesis.model.KinesisQuotas.Request

/**
 * PutRecords writes up to 500 records. Each shard accepts or throttles its own records; one malformed record fails
 * the whole call.
 */
object PutRecords extends Action {
  val name = "PutRecords"

  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    validator.present("Records")
    val records = call.fields.structures("Records").getOrElse(Vector.empty)
    if (call.fields.has("Records")) validator.size("Records", records.size, 1, Request.PutRecordsEntries)
    val stream = call.stream(validator)
    stream.requireUsable()

    val entries = new Array[IncomingRecord](records.size)
    var bytes = 0L
    var i = 0
    while (i < entries.length) {
      entries(i) = PutRules.read(records(i), stream, s"records.${i + 1}.member.")
      bytes += entries(i).size
      i += 1
    }
    if (bytes > Request.PutRecordsBytes)
      throw ServiceError.invalidArgument(
        s"Records size of $bytes bytes exceeds the limit of ${Request.PutRecordsBytes} bytes."
      )
    append(call, stream, entries)
  }

  private def append(call: Call, stream: DataStream, entries: Array[IncomingRecord]): Answer = {
    val encryption = stream.settings.encryptionType
    val limits = stream.quotaLimits
    val shards = new Array[ShardLog](entries.length)
    val stored = new Array[StoredRecord](entries.length)
    val failures = call.entryFailures(entries.length, entries(_).partitionKey)
    var failed = 0
    var i = 0
    while (i < entries.length) {
      if (failures(i) == null) {
        val (shard, record) = stream.append(entries(i), encryption, call.now, limits)
        shards(i) = shard
        stored(i) = record
      }
      if (failures(i) != null || (stored(i) eq ShardLog.Throttled)) failed += 1
      i += 1
    }
    wake(shards)
    Answer.body { reply =>
      reply.obj {
        reply.field("FailedRecordCount", failed.toLong)
        reply.field("EncryptionType", encryption)
        reply.array("Records", entries.indices) { i =>
          reply.obj {
            if (failures(i) != null) {
              reply.field("ErrorCode", failures(i).errorType)
              reply.field("ErrorMessage", failures(i).getMessage)
            } else if (stored(i) eq ShardLog.Throttled) {
              reply.field("ErrorCode", "ProvisionedThroughputExceededException")
              reply.field(
                "ErrorMessage",
                s"Rate exceeded for shard ${shards(i).id} in stream ${stream.name} under account ${stream.account}."
              )
            } else {
              reply.field("SequenceNumber", stored(i).sequenceNumber)
              reply.field("ShardId", shards(i).id.value)
            }
          }
        }
      }
    }
  }

  // Wakes each shard once, even if it took several entries.
  private def wake(touched: Array[ShardLog]): Unit = {
    val woken = new java.util.HashSet[ShardLog]
    touched.foreach(shard => if (shard != null && woken.add(shard)) shard.wake())
  }
}
