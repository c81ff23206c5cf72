package org.sparkkinesis.emulator.action.record

import java.time.format.DateTimeFormatter
import java.time.{Instant, ZoneOffset}
import java.util.Locale

import org.sparkkinesis.emulator.action.call.{Action, Answer, Call, IteratorToken, Tokens, Validator}
import org.sparkkinesis.emulator.action.stream.StreamRules
import org.sparkkinesis.emulator.document.ReplyWriter
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.shard.{ShardLog, StoredRecord}
import org.sparkkinesis.emulator.engine.stream.DataStream
import org.sparkkinesis.model.KinesisQuotas.Lifetime
import org.sparkkinesis.model.{KinesisQuotas, StreamRef}

/**
 * GetRecords returns at most 10,000 records or 10 MiB after an iterator, within the read limits of the shard. The
 * answer lacks NextShardIterator only after the last record of a closed shard; then it contains the child shards.
 */
object GetRecords extends Action {
  val name = "GetRecords"
  private val MaxIterator = 512
  private val ErrorTime = DateTimeFormatter.ofPattern("EEE MMM dd HH:mm:ss 'UTC' yyyy", Locale.ENGLISH)

  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    val iterator = validator.requiredString("ShardIterator", maxLength = MaxIterator)
    val limit = validator.int("Limit", 1, Int.MaxValue)
    validator.streamArn()
    validator.streamId()
    validator.check()
    if (limit.exists(_ > KinesisQuotas.Request.GetRecordsLimit))
      throw ServiceError.invalidArgument(
        s"Limit ${limit.get} is above the maximum of ${KinesisQuotas.Request.GetRecordsLimit}."
      )
    val now = call.now
    val token = Tokens
      .iterator(iterator.get.stripPrefix("\"").stripSuffix("\""))
      .getOrElse(throw ServiceError.invalidArgument("Invalid ShardIterator."))
    val stream = streamOf(call, token)
    call.streamName = stream.name
    stream.requireUsable()
    val shard = call.touch(
      stream.shards
        .byIndex(token.shardIndex)
        .getOrElse(throw ServiceError.resourceNotFound(s"The shard of this iterator in stream ${stream.name} is gone."))
    )
    checkAge(token, now)
    val limits = stream.quotaLimits
    if (!shard.admitRead(now, limits))
      throw ServiceError.throughputExceeded(s"Rate exceeded for Shard - ${stream.account}/${stream.name}/${shard.id}")

    val wasClosed = !shard.isOpen
    val count = limit.getOrElse(KinesisQuotas.Request.GetRecordsLimit)
    val read = shard.read(token.afterSeqIx, stream.horizon(now), count, KinesisQuotas.Request.GetRecordsBytes)
    shard.readTaken(read.bytes, now, limits)
    val after = read.records.lastOption.fold(token.afterSeqIx)(_.seqIx)
    val ended = wasClosed && read.nextArrivalMillis < 0
    val next = if (ended) None else Some(token.copy(afterSeqIx = after, issuedMillis = now).encode)
    val behind = if (read.nextArrivalMillis < 0) 0L else math.max(0, now - read.nextArrivalMillis)
    Answer.body((read.bytes + read.records.length * RecordShape.Overhead).toInt) { reply =>
      reply.obj {
        reply.array("Records", read.records)(RecordShape.write(reply))
        next.foreach(reply.field("NextShardIterator", _))
        reply.field("MillisBehindLatest", behind)
        if (ended) RecordShape.writeChildren(reply, stream, shard)
      }
    }
  }

  private def streamOf(call: Call, token: IteratorToken): DataStream = {
    val namespace = call.fields.string("StreamARN").flatMap(StreamRef.parse) match {
      case Some(arn: StreamRef.ByArn) =>
        if (arn.name != token.stream) throw ServiceError.invalidArgument("StreamARN is not that of the ShardIterator.")
        call.engine.namespace(arn.account, arn.region)
      case _ => call.namespace
    }
    val stream = namespace.stream(token.stream)
    if (stream.createdMillis != token.streamCreated)
      throw ServiceError.resourceNotFound(s"Stream ${stream.name} under account ${stream.account} not found.")
    stream
  }

  private def checkAge(token: IteratorToken, now: Long): Unit = {
    val tolerated = Lifetime.ShardIterator.toMillis
    if (now - token.issuedMillis > tolerated)
      throw ServiceError.expiredIterator(
        s"Iterator expired. The iterator was created at time ${timeText(token.issuedMillis)} while right now it is " +
          s"${timeText(now)} which is further in the future than the tolerated delay of $tolerated milliseconds."
      )
  }

  private def timeText(millis: Long): String = ErrorTime.format(Instant.ofEpochMilli(millis).atOffset(ZoneOffset.UTC))
}

/** Writes the shapes that polling and enhanced fan-out share. */
private[emulator] object RecordShape {

  /** Approximate number of bytes that a record takes in an answer in addition to its payload and key. */
  val Overhead = 200

  def write(reply: ReplyWriter)(record: StoredRecord): Unit = reply.obj {
    reply.field("SequenceNumber", record.sequenceNumber)
    reply.timestamp("ApproximateArrivalTimestamp", record.arrivalMillis)
    reply.blob("Data", record.data)
    reply.field("PartitionKey", record.partitionKey)
    reply.field("EncryptionType", record.encryptionType)
  }

  def writeChildren(reply: ReplyWriter, stream: DataStream, shard: ShardLog): Unit =
    reply.array("ChildShards", stream.shards.childrenOf(shard.index)) { (child: ShardLog) =>
      reply.obj {
        val described = child.asChild
        reply.field("ShardId", described.id.value)
        reply.strings("ParentShards", described.parents.map(_.value))
        StreamRules.writeRange(reply, described.hashKeyRange)
      }
    }
}
