package org.sparkkinesis.spark.protocol

import java.io.{ByteArrayOutputStream, DataOutputStream}

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.config.ConnectorVersion
import org.sparkkinesis.event.{ConsumerHealth, OngoingOutage, ThrottledCalls}
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{ChildShard, SequenceNumber, ShardId, StartingPosition, StreamShard}
import org.sparkkinesis.plan.offset.ShardPosition
import org.sparkkinesis.plan.realtime.{LatencyCounts, ShardOutcome, TaskEnd}
import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException}
import org.sparkkinesis.spark.settings.StreamConnection

/** Messages of other versions of the connector, made by hand, and one message of each kind. */
object OtherMessage {

  /** A message `Broken` after the header of this version. */
  def of(connector: String, format: Int): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out = new DataOutputStream(bytes)
    out.writeByte('K')
    out.writeInt(format)
    out.writeUTF(connector)
    out.writeByte(3)
    out.writeUTF("7")
    out.writeLong(1)
    out.writeUTF("reason")
    bytes.toByteArray
  }

  /** The message `Register` of a connector from before the format had a version. */
  val withoutVersion: Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out = new DataOutputStream(bytes)
    out.writeByte(1)
    out.writeUTF("7")
    out.writeUTF("host")
    out.writeLong(1)
    bytes.toByteArray
  }

  val headerBytes: Int = 1 + 4 + 2 + ConnectorVersion.text.length

  private val shard = StreamShard("orders", ShardId.ofIndex(1))
  private val number = SequenceNumber("495")
  private val child = ChildShard(ShardId.ofIndex(2), Seq(shard.shard), HashKeyRange(BigInt(0), BigInt(9)))
  private val positions = Seq(
    StartingPosition.TrimHorizon,
    StartingPosition.Latest,
    StartingPosition.AtTimestamp(5),
    StartingPosition.AtSequenceNumber(number),
    StartingPosition.AfterSequenceNumber(number)
  )

  def samples: Seq[Array[Byte]] = {
    val role = StreamConnection.Role(Seq("role"), "session", Some("id"), Some("sts"))
    val connection = StreamConnection("us-east-1", Some("endpoint"), Some(role), Some("consumer"))
    val error =
      new ServiceException(ServiceErrorKind.Internal, Operation.GetRecords, "code", "detail", Some("request"))
    val report = ShardReport(
      shard,
      1,
      Vector(ChunkSummary(number, 1, 2, 3, 4, 5, 6)),
      7,
      8,
      9,
      Some(Seq(child)),
      Some(error),
      10,
      11
    )
    val at = Seq(
      ShardPosition.Start(StartingPosition.TrimHorizon),
      ShardPosition.After(number, 1),
      ShardPosition.Within(number, 2, 3),
      ShardPosition.ShardEnd
    )
    val end = TaskEnd(
      at.map(ShardOutcome(shard, _, 1, Some(2), Some(3), Seq(child), Some(4))).toVector,
      5,
      6,
      LatencyCounts(Vector(1, 2), 7)
    )
    val toExecutor = Seq[ToExecutor](
      Assign(positions.map(Assigned(shard, _, 1, Some(child.hashKeyRange), 2)), 3, Seq("arn" -> connection)),
      Release(Seq(shard -> number)),
      Unassign(Seq(shard)),
      SendFullReport,
      StopAll,
      EndTasks,
      ServiceTime(1)
    )
    val health = ConsumerHealth(
      1,
      2.5,
      Seq(ThrottledCalls("arn", Some(shard.shard), Operation.GetRecords, 3)),
      Seq(OngoingOutage("arn", 4, 5, "reason"))
    )
    val toDriver = Seq[ToDriver](
      Register("7", "host", 1),
      Report("7", 1, 2, full = true, bufferIsFull = false, Set("arn"), Seq(report), Map("metric" -> 3L), health),
      Broken("7", 1, "reason"),
      ParentFinished(shard, Seq(child)),
      TaskEnded("7", "host", 1, end)
    )
    toExecutor.map(ProtocolCodec.encode) ++ toDriver.map(ProtocolCodec.encode)
  }
}
