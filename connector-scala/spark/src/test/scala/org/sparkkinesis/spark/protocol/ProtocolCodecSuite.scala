package org.sparkkinesis.spark.protocol

import org.scalacheck.Gen

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.config.ConnectorVersion
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.event.{ConsumerHealth, OngoingOutage, ThrottledCalls}
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{StreamShard, _}
import org.sparkkinesis.plan.offset.ShardPosition
import org.sparkkinesis.plan.realtime.{LatencyCounts, ShardOutcome, TaskEnd}
import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException}
import org.sparkkinesis.spark.settings.StreamConnection
import org.sparkkinesis.suite.PropertySuite

class ProtocolCodecSuite extends PropertySuite {
  private val shard = for {
    stream <- Gen.oneOf("orders", "arn:aws:kinesis:eu-central-1:123456789012:stream/orders", "ünïcode")
    index <- Gen.choose(0L, 99999L)
  } yield StreamShard(stream, ShardId.ofIndex(index))
  private val number = Gen.choose(1L, Long.MaxValue).map(n => SequenceNumber(n.toString))
  private val long = Gen.choose(Long.MinValue, Long.MaxValue)
  private val range = for {
    a <- Gen.choose(0, 1000)
    b <- Gen.choose(0, 1000)
  } yield HashKeyRange(BigInt(math.min(a, b)), HashKeyRange.Max - math.max(a, b))
  private val position: Gen[StartingPosition] = Gen.oneOf(
    Gen.const(StartingPosition.TrimHorizon),
    Gen.const(StartingPosition.Latest),
    long.map(StartingPosition.AtTimestamp(_)),
    number.map(StartingPosition.AtSequenceNumber(_)),
    number.map(StartingPosition.AfterSequenceNumber(_))
  )
  private def some[A](gen: Gen[A]): Gen[Vector[A]] = Gen.choose(0, 5).flatMap(Gen.containerOfN[Vector, A](_, gen))

  private val newerRoutes = for {
    revision <- long
    // A document may be longer than a text of DataOutput.
    document <- Gen.oneOf("{}", "ünïcode" * 20000)
    arns <- some(Gen.alphaNumStr)
  } yield NewerRoutes(
    revision,
    document,
    arns.map(_ -> StreamConnection("eu-west-1", Some("http://localhost:1"), None, None)),
    arns
  )

  private val toExecutor: Gen[ToExecutor] = {
    val assigned = for {
      s <- shard
      p <- position
      epoch <- long
      r <- Gen.option(range)
      creation <- long
    } yield Assigned(s, p, epoch, r, creation)
    val text = Gen.alphaNumStr
    val role =
      Gen.zip(Gen.listOf(text), text, Gen.option(text), Gen.option(text)).map((StreamConnection.Role.apply _).tupled)
    val connection = Gen.zip(text, Gen.option(text), Gen.option(role), Gen.option(text))
      .map((StreamConnection.apply _).tupled)
    Gen.oneOf(
      Gen.zip(some(assigned), long, some(Gen.zip(text, connection))).map((Assign.apply _).tupled),
      some(Gen.zip(shard, number)).map(Release(_)),
      some(shard).map(Unassign(_)),
      Gen.const(SendFullReport),
      Gen.const(EndTasks),
      long.map(ServiceTime(_)),
      Gen.const(StopAll)
    )
  }

  private val children: Gen[Vector[ChildShard]] =
    some(Gen.zip(shard.map(_.shard), some(shard.map(_.shard)), range).map((ChildShard.apply _).tupled))

  private val taskEnd: Gen[TaskEnd] = {
    val planned: Gen[ShardPosition] = Gen.oneOf(
      position.map(ShardPosition.Start(_)),
      Gen.zip(number, long).map((ShardPosition.After.apply _).tupled),
      Gen.zip(number, long, long).map((ShardPosition.Within.apply _).tupled),
      Gen.const(ShardPosition.ShardEnd)
    )
    val outcome =
      Gen.zip(shard, planned, long, Gen.option(long), Gen.option(long), children, Gen.option(long))
        .map((ShardOutcome.apply _).tupled)
    val counts = Gen.zip(some(long), long).map((LatencyCounts.apply _).tupled)
    Gen.zip(some(outcome), long, Gen.choose(0, 1000), counts).map((TaskEnd.apply _).tupled)
  }

  private val shardReport = for {
    s <- shard
    epoch <- long
    chunks <-
      some(Gen.zip(number, Gen.choose(1, 1000), long, long, long, long, long).map((ChunkSummary.apply _).tupled))
    reads <- Gen.choose(0, 1000)
    readUpTo <- long
    behind <- long
    end <- Gen.option(children)
    open <- long
  } yield ShardReport(s, epoch, chunks, reads, readUpTo, behind, end, None, open, epoch - 1)

  private val health = {
    val throttled = Gen.zip(Gen.alphaNumStr, Gen.option(shard.map(_.shard)), Gen.oneOf(Operation.all), long)
      .map((ThrottledCalls.apply _).tupled)
    val outage =
      Gen.zip(Gen.alphaNumStr, Gen.choose(0, 99), long, Gen.alphaNumStr).map((OngoingOutage.apply _).tupled)
    Gen.zip(long, Gen.choose(1.0, 8.0), some(throttled), some(outage)).map((ConsumerHealth.apply _).tupled)
  }

  private val toDriver: Gen[ToDriver] = {
    val register = Gen.zip(Gen.alphaNumStr, Gen.alphaNumStr, long).map((Register.apply _).tupled)
    val report = for {
      id <- Gen.alphaNumStr
      instance <- long
      count <- long
      full <- Gen.oneOf(true, false)
      isFull <- Gen.oneOf(true, false)
      unreachable <- some(Gen.alphaNumStr)
      shards <- some(shardReport)
      metrics <- some(Gen.zip(Gen.alphaNumStr, long))
      state <- health
    } yield Report(id, instance, count, full, isFull, unreachable.toSet, shards, metrics.toMap, state)
    val broken = Gen.zip(Gen.alphaNumStr, long, Gen.alphaNumStr).map((Broken.apply _).tupled)
    val finished = Gen.zip(shard, children).map((ParentFinished.apply _).tupled)
    val ended = Gen.zip(Gen.alphaNumStr, Gen.alphaNumStr, long, taskEnd).map((TaskEnded.apply _).tupled)
    Gen.oneOf(register, report, broken, finished, ended)
  }

  test("questions for routes and their answers are the same after encoding and decoding") {
    forAll(Gen.option(long), long) { (epoch, revision) =>
      val wanted = RoutesWanted(epoch, revision)
      assert(ProtocolCodec.decodeRoutesWanted(ProtocolCodec.encode(wanted)) == wanted)
    }
    forAll(Gen.option(newerRoutes)) { answer =>
      assert(ProtocolCodec.decodeNewerRoutes(ProtocolCodec.encode(answer)) == answer)
    }
  }

  test("messages to an executor are decoded as they were encoded") {
    forAll(toExecutor)(message => assert(ProtocolCodec.decodeToExecutor(ProtocolCodec.encode(message)) == message))
  }

  test("messages to the driver are decoded as they were encoded") {
    forAll(toDriver)(message => assert(ProtocolCodec.decodeToDriver(ProtocolCodec.encode(message)) == message))
  }

  test("a failure keeps its kind, operation, code, text and request id, for every kind and operation") {
    for (kind <- ServiceErrorKind.all; operation <- Operation.all; request <- Seq(None, Some("5f3c"))) {
      val error = new ServiceException(kind, operation, "SomeException", "it said so", request)
      val told = ShardReport(StreamShard("orders", ShardId.ofIndex(0)), 1, Vector.empty, 0, 0, 0, None, Some(error))
      val report = Report("1", 1, 1, full = false, bufferIsFull = false, Set.empty, Seq(told), Map.empty)
      ProtocolCodec.decodeToDriver(ProtocolCodec.encode(report)) match {
        case got: Report =>
          val failure = got.shards.head.failure.get
          assert(
            (failure.kind, failure.operation, failure.errorCode, failure.detail, failure.requestId) ==
              (kind, operation, "SomeException", "it said so", request)
          )
        case other => fail(s"no report: $other")
      }
    }
  }

  test("a stream's name is written once for consecutive shards") {
    val arn = "arn:aws:kinesis:eu-central-1:123456789012:stream/orders"
    def size(shards: Int) =
      ProtocolCodec.encode(Unassign((0 until shards).map(i => StreamShard(arn, ShardId.ofIndex(i.toLong))))).length
    assert(size(1000) - size(999) < 30, s"${size(1000) - size(999)} bytes for one more shard")
  }

  test("an unknown message type is an error") {
    val header = ProtocolCodec.encode(StopAll).dropRight(1)
    intercept[IllegalArgumentException](ProtocolCodec.decodeToExecutor(header :+ 99.toByte))
    intercept[IllegalArgumentException](ProtocolCodec.decodeToDriver(header :+ 99.toByte))
  }

  test("a message of another version of the connector is an error that names both versions, in both directions") {
    val own = ConnectorVersion.text
    Seq[(Array[Byte], String)](
      OtherMessage.of("9.8.7", format = ProtocolCodec.Format + 1) -> s"9.8.7 (format ${ProtocolCodec.Format + 1})",
      OtherMessage.withoutVersion -> "0.1.0 or older"
    ).foreach { case (message, other) =>
      val atDriver = OtherVersion.of(message, "executor 7").swap.toOption.get
      assert(atDriver.condition == "KINESIS_VERSIONS_DIFFER")
      assert(atDriver.parameters == Map("driver" -> own, "executor" -> "executor 7", "executorVersion" -> other))
      val atExecutor = intercept[KinesisConnectorException](OtherVersion.requireOwn(message, "executor 7"))
      assert(atExecutor.parameters == Map("driver" -> other, "executor" -> "executor 7", "executorVersion" -> own))
    }
  }

  test("another release with the same format is understood") {
    val message = OtherMessage.of("9.8.7", ProtocolCodec.Format)
    assert(ProtocolCodec.decodeToDriver(message) == Broken("7", 1, "reason"))
  }

  test("a change of the bytes of a message needs another version of the format") {
    val hash = java.security.MessageDigest.getInstance("SHA-256")
    OtherMessage.samples.foreach(bytes => hash.update(bytes.drop(OtherMessage.headerBytes)))
    assert((ProtocolCodec.Format, java.util.HexFormat.of().formatHex(hash.digest, 0, 8)) == (2, "3dcc596e3da8482f"))
  }
}
