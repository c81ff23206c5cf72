package org.sparkkinesis.spark.protocol

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}
import java.nio.charset.StandardCharsets

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.event.{ConsumerHealth, OngoingOutage, ThrottledCalls}
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{StreamShard, _}
import org.sparkkinesis.plan.offset.ShardPosition
import org.sparkkinesis.plan.realtime.{LatencyCounts, ShardOutcome, TaskEnd}
import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException}
import org.sparkkinesis.spark.settings.StreamConnection

/** Writes the fields of messages. */
final private[protocol] class FieldsOut(bytes: ByteArrayOutputStream) extends DataOutputStream(bytes) {
  import FieldsOut._

  /** Shards of one stream follow each other, so a stream's ARN is written once. */
  private var stream = ""

  def seq[A](items: Seq[A])(each: A => Unit): Unit = {
    writeInt(items.size)
    items.foreach(each)
  }

  def option[A](item: Option[A])(each: A => Unit): Unit = {
    writeBoolean(item.nonEmpty)
    item.foreach(each)
  }

  /** Writes a text of any length. */
  def text(value: String): Unit = {
    val encoded = value.getBytes(StandardCharsets.UTF_8)
    writeInt(encoded.length)
    write(encoded)
  }

  def writeReason(text: String): Unit = writeUTF(text.take(LongestReason))

  def shard(value: StreamShard): Unit = {
    val same = value.stream == stream
    writeBoolean(same)
    if (!same) {
      stream = value.stream
      writeUTF(stream)
    }
    writeUTF(value.shard.value)
  }

  def range(value: HashKeyRange): Unit = {
    writeUTF(value.start.toString)
    writeUTF(value.end.toString)
  }

  def position(value: StartingPosition): Unit = value match {
    case StartingPosition.TrimHorizon => writeByte(0)
    case StartingPosition.Latest => writeByte(1)
    case StartingPosition.AtTimestamp(millis) =>
      writeByte(2)
      writeLong(millis)
    case StartingPosition.AtSequenceNumber(number) =>
      writeByte(3)
      writeUTF(number.value)
    case StartingPosition.AfterSequenceNumber(number) =>
      writeByte(4)
      writeUTF(number.value)
  }

  def child(value: ChildShard): Unit = {
    writeUTF(value.id.value)
    seq(value.parents)(parent => writeUTF(parent.value))
    range(value.hashKeyRange)
  }

  def connection(value: StreamConnection): Unit = {
    writeUTF(value.region)
    option(value.endpoint)(writeUTF)
    option(value.role) { role =>
      seq(role.arns)(writeUTF)
      writeUTF(role.sessionName)
      option(role.externalId)(writeUTF)
      option(role.stsEndpoint)(writeUTF)
    }
    option(value.consumerArn)(writeUTF)
  }

  def report(value: ShardReport): Unit = {
    shard(value.shard)
    writeLong(value.epoch)
    seq(value.chunks) { chunk =>
      writeUTF(chunk.last.value)
      writeInt(chunk.rows)
      writeLong(chunk.bytes)
      writeLong(chunk.firstArrivalMillis)
      writeLong(chunk.newestArrivalMillis)
      writeLong(chunk.lastArrivalMillis)
      writeLong(chunk.millisBehindLatest)
    }
    writeInt(value.reads)
    writeLong(value.readUpToMillis)
    writeLong(value.millisBehindLatest)
    option(value.end)(seq(_)(child))
    option(value.failure) { error =>
      writeByte(ServiceErrorKind.all.indexOf(error.kind))
      writeByte(Operation.all.indexOf(error.operation))
      writeUTF(error.errorCode)
      writeReason(String.valueOf(error.detail))
      option(error.requestId)(writeUTF)
    }
    writeLong(value.openUpToMillis)
    writeLong(value.startEpoch)
  }

  def health(value: ConsumerHealth): Unit = {
    writeLong(value.bufferBytes)
    writeDouble(value.pollingSlowdown)
    seq(value.throttled) { one =>
      writeUTF(one.stream)
      option(one.shard)(id => writeUTF(id.value))
      writeByte(Operation.all.indexOf(one.operation))
      writeLong(one.calls)
    }
    seq(value.outages) { one =>
      writeUTF(one.stream)
      writeInt(one.shards)
      writeLong(one.millis)
      writeReason(one.reason)
    }
  }

  def end(value: TaskEnd): Unit = {
    seq(value.outcomes)(outcome)
    writeLong(value.rows)
    writeInt(value.childrenBegun)
    seq(value.handOver.counts)(writeLong)
    writeLong(value.handOver.maxMillis)
  }

  private def outcome(value: ShardOutcome): Unit = {
    shard(value.shard)
    planned(value.position)
    writeLong(value.readUpToMillis)
    option(value.begunMillis)(writeLong)
    option(value.lastArrivalMillis)(writeLong)
    seq(value.children)(child)
    option(value.lagMillis)(writeLong)
  }

  private def planned(value: ShardPosition): Unit = value match {
    case ShardPosition.Start(from) =>
      writeByte(0)
      position(from)
    case ShardPosition.After(number, arrivalMillis) =>
      writeByte(1)
      writeUTF(number.value)
      writeLong(arrivalMillis)
    case ShardPosition.Within(number, lastSubSequenceNumber, arrivalMillis) =>
      writeByte(2)
      writeUTF(number.value)
      writeLong(lastSubSequenceNumber)
      writeLong(arrivalMillis)
    case ShardPosition.ShardEnd => writeByte(3)
  }
}

private object FieldsOut {

  /** Maximum length of a reason in characters; `writeUTF` accepts 65,535 bytes. */
  val LongestReason = 4096
}

/** Reads the fields of messages. */
final private[protocol] class FieldsIn(bytes: Array[Byte]) extends DataInputStream(new ByteArrayInputStream(bytes)) {
  private var stream = ""

  def seq[A](each: => A): Vector[A] = Vector.fill(readInt())(each)
  def option[A](each: => A): Option[A] = if (readBoolean()) Some(each) else None

  def shard(): StreamShard = {
    if (!readBoolean()) stream = readUTF()
    StreamShard(stream, ShardId(readUTF()))
  }

  def range(): HashKeyRange = HashKeyRange(BigInt(readUTF()), BigInt(readUTF()))

  def position(): StartingPosition = readByte().toInt match {
    case 0 => StartingPosition.TrimHorizon
    case 1 => StartingPosition.Latest
    case 2 => StartingPosition.AtTimestamp(readLong())
    case 3 => StartingPosition.AtSequenceNumber(SequenceNumber.trusted(readUTF()))
    case 4 => StartingPosition.AfterSequenceNumber(SequenceNumber.trusted(readUTF()))
    case other => throw new IllegalArgumentException(s"no position of kind $other")
  }

  def child(): ChildShard = ChildShard(ShardId(readUTF()), seq(ShardId(readUTF())), range())

  def text(): String = new String(readNBytes(readInt()), StandardCharsets.UTF_8)

  def connection(): StreamConnection = StreamConnection(
    readUTF(),
    option(readUTF()),
    option(StreamConnection.Role(seq(readUTF()), readUTF(), option(readUTF()), option(readUTF()))),
    option(readUTF())
  )

  def report(): ShardReport = ShardReport(
    shard(),
    readLong(),
    seq(ChunkSummary(
      SequenceNumber.trusted(readUTF()),
      readInt(),
      readLong(),
      readLong(),
      readLong(),
      readLong(),
      readLong()
    )),
    readInt(),
    readLong(),
    readLong(),
    option(seq(child())),
    option(failure()),
    readLong(),
    readLong()
  )

  private def failure(): ServiceException = new ServiceException(
    ServiceErrorKind.all(readByte().toInt),
    Operation.all(readByte().toInt),
    readUTF(),
    readUTF(),
    option(readUTF())
  )

  def health(): ConsumerHealth = ConsumerHealth(
    readLong(),
    readDouble(),
    seq(ThrottledCalls(readUTF(), option(ShardId(readUTF())), Operation.all(readByte().toInt), readLong())),
    seq(OngoingOutage(readUTF(), readInt(), readLong(), readUTF()))
  )

  def end(): TaskEnd =
    TaskEnd(seq(outcome()), readLong(), readInt(), LatencyCounts(seq(readLong()), readLong()))

  private def outcome(): ShardOutcome = ShardOutcome(
    shard(),
    planned(),
    readLong(),
    option(readLong()),
    option(readLong()),
    seq(child()),
    option(readLong())
  )

  private def planned(): ShardPosition = readByte().toInt match {
    case 0 => ShardPosition.Start(position())
    case 1 => ShardPosition.After(SequenceNumber.trusted(readUTF()), readLong())
    case 2 => ShardPosition.Within(SequenceNumber.trusted(readUTF()), readLong(), readLong())
    case 3 => ShardPosition.ShardEnd
    case other => throw new IllegalArgumentException(s"no position of kind $other")
  }
}
