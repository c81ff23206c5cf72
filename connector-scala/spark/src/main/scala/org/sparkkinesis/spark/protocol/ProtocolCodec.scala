package org.sparkkinesis.spark.protocol

import java.io.ByteArrayOutputStream

import org.sparkkinesis.config.ConnectorVersion
import org.sparkkinesis.model.SequenceNumber

/**
 * A message in another format than this jar's: the other process has another version of the connector.
 *
 * @param connector
 *   version of the connector that sent the message
 */
final class OtherFormat(val connector: String) extends RuntimeException(s"a message of the connector $connector")

/**
 * Encodes and decodes messages. Each begins with the version of the format and of the connector, because a cluster may
 * have several jars of the connector. The decoders throw [[OtherFormat]] for a message of another format.
 */
object ProtocolCodec {

  /** The version of the format. Every change of a message's bytes needs another one. */
  val Format = 2

  /** First byte of every message. Before the format had a version, it was the kind of the message. */
  private val Marker = 'K'.toInt

  def encode(message: ToExecutor): Array[Byte] = write { out =>
    message match {
      case Assign(shards, serviceMillis, connections) =>
        out.writeByte(1)
        out.writeLong(serviceMillis)
        out.seq(shards) { a =>
          out.shard(a.shard)
          out.position(a.position)
          out.writeLong(a.epoch)
          out.option(a.range)(out.range)
          out.writeLong(a.creationMillis)
        }
        out.seq(connections) { case (arn, connection) =>
          out.writeUTF(arn)
          out.connection(connection)
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
      case ServiceTime(millis) =>
        out.writeByte(7)
        out.writeLong(millis)
    }
  }

  def decodeToExecutor(bytes: Array[Byte]): ToExecutor = {
    val in = opened(bytes)
    in.readByte().toInt match {
      case 1 =>
        val serviceMillis = in.readLong()
        val assigned = in.seq(Assigned(in.shard(), in.position(), in.readLong(), in.option(in.range()), in.readLong()))
        Assign(assigned, serviceMillis, in.seq(in.readUTF() -> in.connection()))
      case 2 => Release(in.seq(in.shard() -> SequenceNumber.trusted(in.readUTF())))
      case 3 => Unassign(in.seq(in.shard()))
      case 4 => SendFullReport
      case 5 => StopAll
      case 6 => EndTasks
      case 7 => ServiceTime(in.readLong())
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
        out.writeReason(reason)
      case ParentFinished(shard, waiting) =>
        out.writeByte(4)
        out.shard(shard)
        out.seq(waiting)(out.child)
      case TaskEnded(executorId, host, epoch, end) =>
        out.writeByte(5)
        out.writeUTF(executorId)
        out.writeUTF(host)
        out.writeLong(epoch)
        out.end(end)
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
        out.health(report.health)
    }
  }

  def decodeToDriver(bytes: Array[Byte]): ToDriver = {
    val in = opened(bytes)
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
          in.seq(in.readUTF() -> in.readLong()).toMap,
          in.health()
        )
      case 3 => Broken(in.readUTF(), in.readLong(), in.readUTF())
      case 4 => ParentFinished(in.shard(), in.seq(in.child()))
      case 5 => TaskEnded(in.readUTF(), in.readUTF(), in.readLong(), in.end())
      case other => throw new IllegalArgumentException(s"no message of kind $other for the driver")
    }
  }

  def encode(message: RoutesWanted): Array[Byte] = write { out =>
    out.option(message.epoch)(out.writeLong)
    out.writeLong(message.revision)
  }

  def decodeRoutesWanted(bytes: Array[Byte]): RoutesWanted = {
    val in = opened(bytes)
    RoutesWanted(in.option(in.readLong()), in.readLong())
  }

  /** Encodes the answer to [[RoutesWanted]]; there are no newer routes if it is empty. */
  def encode(answer: Option[NewerRoutes]): Array[Byte] = write { out =>
    out.option(answer) { newer =>
      out.writeLong(newer.revision)
      out.text(newer.document)
      out.seq(newer.connections) { case (arn, connection) =>
        out.writeUTF(arn)
        out.connection(connection)
      }
      out.seq(newer.mustBeOwn)(out.writeUTF)
    }
  }

  def decodeNewerRoutes(bytes: Array[Byte]): Option[NewerRoutes] = {
    val in = opened(bytes)
    in.option(NewerRoutes(in.readLong(), in.text(), in.seq(in.readUTF() -> in.connection()), in.seq(in.readUTF())))
  }

  private def opened(bytes: Array[Byte]): FieldsIn = {
    val in = new FieldsIn(bytes)
    if (in.readByte().toInt != Marker) throw new OtherFormat("0.1.0 or older")
    val format = in.readInt()
    val connector = in.readUTF()
    if (format != Format) throw new OtherFormat(s"$connector (format $format)")
    in
  }

  private def write(body: FieldsOut => Unit): Array[Byte] = {
    val bytes = new ByteArrayOutputStream(256)
    val out = new FieldsOut(bytes)
    out.writeByte(Marker)
    out.writeInt(Format)
    out.writeUTF(ConnectorVersion.text)
    body(out)
    out.flush()
    bytes.toByteArray
  }
}
