package org.sparkkinesis.spark.coordinator

import java.util.concurrent.{LinkedBlockingQueue, TimeUnit}

import org.apache.spark.sparkkinesis.ClusterRpc

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.model.{ChildShard, SequenceNumber, StreamShard}
import org.sparkkinesis.spark.executor.ConsumerHosts
import org.sparkkinesis.spark.protocol.{
  Assign, Assigned, Broken, ProtocolCodec, Register, Report, ServiceTime, ShardReport, ToExecutor
}

/** The executor's side of the protocol, driven by a test over Spark's RPC. */
final class FakeExecutor(val id: String, sourceId: String, instance: Long = 1) extends AutoCloseable {
  private val heard = new LinkedBlockingQueue[ToExecutor]
  private val times = new LinkedBlockingQueue[Long]
  private val driver = ClusterRpc.driver(ConsumerHosts.coordinatorName(sourceId))
  private val endpoint = ClusterRpc.openOnExecutor(s"fake-$id-$instance-$sourceId")(bytes =>
    ProtocolCodec.decodeToExecutor(bytes) match {
      // It arrives at any time.
      case ServiceTime(millis) => times.add(millis): Unit
      case message => heard.add(message): Unit
    }
  )
  private var number = 0L

  /** The streams that its reports contain as unreachable. */
  @volatile var unreachable: Set[String] = Set.empty

  def register(): Unit =
    driver.register(ProtocolCodec.encode(Register(id, "localhost", instance)), endpoint)

  /** Sends the bytes of a message as they are, as a registration or as a message. */
  def sendOther(message: Array[Byte], registers: Boolean): Unit =
    if (registers) driver.register(message, endpoint) else driver.deliver(message)

  /** Returns the next message; fails if none arrives. */
  def next(): ToExecutor = Option(heard.poll(20, TimeUnit.SECONDS))
    .getOrElse(throw new AssertionError(s"executor $id received nothing for 20 s"))

  /** Returns the next time of the service; fails if none arrives. */
  def nextTime(): Long = Option(times.poll(20, TimeUnit.SECONDS))
    .getOrElse(throw new AssertionError(s"executor $id received no time for 20 s"))

  def nextAssign(): Seq[Assigned] = next() match {
    case Assign(shards, _, _) => shards
    case other => throw new AssertionError(s"executor $id expected an assignment but received $other")
  }

  /**
   * Returns the messages up to the one after which this many shards have been assigned. Streams are listed one after
   * the other, so the shards of several streams can arrive in one assignment or in several.
   */
  def untilAssigned(shards: Int): Seq[ToExecutor] =
    Iterator.unfold(shards) { left =>
      Option.when(left > 0)(next()).map {
        case message @ Assign(assigned, _, _) => message -> (left - assigned.size)
        case message => message -> left
      }
    }.toVector

  /** Returns the assignments of this many shards; fails at another message. */
  def nextAssigned(shards: Int): Seq[Assigned] = untilAssigned(shards).flatMap {
    case Assign(assigned, _, _) => assigned
    case other => throw new AssertionError(s"executor $id expected assignments but received $other")
  }

  def heardNothing: Boolean = heard.isEmpty

  def tell(shards: ShardReport*): Unit = report(full = false, shards)
  def tellAll(shards: ShardReport*): Unit = report(full = true, shards)

  /** Simulates the loss of a report. */
  def loseReport(): Unit = number += 1

  /** Reports a failure of the consumers. */
  def breakDown(reason: String): Unit = driver.send(ProtocolCodec.encode(Broken(id, instance, reason)))

  private def report(full: Boolean, shards: Seq[ShardReport]): Unit = {
    number += 1
    driver.send(ProtocolCodec.encode(Report(
      id,
      instance,
      number,
      full,
      bufferIsFull = false,
      unreachable,
      shards,
      Map.empty
    )))
  }

  override def close(): Unit = endpoint.close()
}

object FakeExecutor {
  def chunk(last: Int): ChunkSummary = ChunkSummary(SequenceNumber(last.toString), 1, 1, 0, 0, 0, 0)

  def news(
      shard: StreamShard,
      epoch: Long,
      chunks: Seq[Int] = Nil,
      end: Option[Seq[ChildShard]] = None
  ): ShardReport = ShardReport(shard, epoch, chunks.map(chunk).toVector, 1, 0, 0, end, None)
}
