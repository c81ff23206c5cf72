package org.sparkkinesis.spark.protocol

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{StreamShard, _}
import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException}
import org.sparkkinesis.spark.settings.StreamConnection

/** Encodes and decodes messages. Both ends run the same jar, so the format has one version. */
object ProtocolCodec {

  /** Maximum length of a reason in characters; `writeUTF` accepts 65,535 bytes. */
  private val LongestReason = 4096

  def encode(message: ToExecutor): Array[Byte] = write { out =>
    message match {
      case Assign(shards, serviceMillis) =>
        out.writeByte(1)
        out.writeLong(serviceMillis)
        out.seq(shards) { a =>
          out.shard(a.shard)
          out.position(a.position)
          out.writeLong(a.epoch)
          out.option(a.range)(out.range)
        }
      case Release(upTo) =>
        out.writeByte(2)
        out.seq(upTo) { case (shard, number) =>
          out.shard(shard)
          out.writeUTF(number.value)
        }
      case Unassign(shards) =>
        out.writeByte(3)
        out.seq(shards)(out.shard)
      case SendFullReport => out.writeByte(4)
      case StopAll => out.writeByte(5)
      case EndTasks => out.writeByte(6)
      case Configure(connections) =>
        out.writeByte(7)
        out.seq(connections) { case (arn, connection) =>
          out.writeUTF(arn)
          out.connection(connection)
        }
    }
  }

  def decodeToExecutor(bytes: Array[Byte]): ToExecutor = {
    val in = new In(bytes)
    in.readByte().toInt match {
      case 1 =>
        val serviceMillis = in.readLong()
        Assign(in.seq(Assigned(in.shard(), in.position(), in.readLong(), in.option(in.range()))), serviceMillis)
      case 2 => Release(in.seq(in.shard() -> SequenceNumber.trusted(in.readUTF())))
      case 3 => Unassign(in.seq(in.shard()))
      case 4 => SendFullReport
      case 5 => StopAll
      case 6 => EndTasks
      case 7 => Configure(in.seq(in.readUTF() -> in.connection()))
      case other => throw new IllegalArgumentException(s"no message of kind $other for an executor")
    }
  }

  def encode(message: ToDriver): Array[Byte] = write { out =>
    message match {
      case Register(executorId, host, instance) =>
        out.writeByte(1)
        out.writeUTF(executorId)
        out.writeUTF(host)
        out.writeLong(instance)
      case Broken(executorId, instance, reason) =>
        out.writeByte(3)
        out.writeUTF(executorId)
        out.writeLong(instance)
        out.writeUTF(reason.take(LongestReason))
      case ParentFinished(shard, waiting) =>
        out.writeByte(4)
        out.shard(shard)
        out.seq(waiting)(out.child)
      case report: Report =>
        out.writeByte(2)
        out.writeUTF(report.executorId)
        out.writeLong(report.instance)
        out.writeLong(report.number)
        out.writeBoolean(report.full)
        out.writeBoolean(report.bufferIsFull)
        out.seq(report.unreachable.toSeq)(out.writeUTF)
        out.seq(report.shards)(out.report)
        out.seq(report.metrics.toSeq) { case (name, value) =>
          out.writeUTF(name)
          out.writeLong(value)
        }
    }
  }

  def decodeToDriver(bytes: Array[Byte]): ToDriver = {
    val in = new In(bytes)
    in.readByte().toInt match {
      case 1 => Register(in.readUTF(), in.readUTF(), in.readLong())
      case 2 =>
        Report(
          in.readUTF(),
          in.readLong(),
          in.readLong(),
          in.readBoolean(),
          in.readBoolean(),
          in.seq(in.readUTF()).toSet,
          in.seq(in.report()),
          in.seq(in.readUTF() -> in.readLong()).toMap
        )
      case 3 => Broken(in.readUTF(), in.readLong(), in.readUTF())
      case 4 => ParentFinished(in.shard(), in.seq(in.child()))
      case other => throw new IllegalArgumentException(s"no message of kind $other for the driver")
    }
  }

  private def write(body: Out => Unit): Array[Byte] = {
    val bytes = new ByteArrayOutputStream(256)
    val out = new Out(bytes)
    body(out)
    out.flush()
    bytes.toByteArray
  }

  final private class Out(bytes: ByteArrayOutputStream) extends DataOutputStream(bytes) {

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
        writeUTF(role.arn)
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
        writeUTF(String.valueOf(error.detail).take(LongestReason))
        option(error.requestId)(writeUTF)
      }
      writeLong(value.openUpToMillis)
    }
  }

  final private class In(bytes: Array[Byte]) extends DataInputStream(new ByteArrayInputStream(bytes)) {
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

    def connection(): StreamConnection = StreamConnection(
      readUTF(),
      option(readUTF()),
      option(StreamConnection.Role(readUTF(), readUTF(), option(readUTF()), option(readUTF()))),
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
      readLong()
    )

    private def failure(): ServiceException = new ServiceException(
      ServiceErrorKind.all(readByte().toInt),
      Operation.all(readByte().toInt),
      readUTF(),
      readUTF(),
      option(readUTF())
    )
  }
}
