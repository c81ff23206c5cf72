package org.sparkkinesis.spark.session

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.event.StreamRecreated
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.model.{SequenceNumber, ShardId, StartingPosition, StreamShard}
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.service.{Operation, ShardPage}
import org.sparkkinesis.spark.connection.FakeDirectory.{arn, shards}
import org.sparkkinesis.spark.connection.{FakeDirectory, VirtualEnvironment}
import org.sparkkinesis.suite.TimedSuite

class CheckpointCheckSuite extends TimedSuite {
  private val Created = 1_600_000_000_000L

  final private class Rig(
      names: Seq[String] = Seq("orders"),
      failOnDataLoss: Boolean = true,
      retention: Map[String, Int] = Map.empty
  ) {
    val time = new VirtualScheduler
    val service = new FakeDirectory(time)
    names.foreach(name => service.add(name, creationMillis = Created, retentionHours = retention.getOrElse(name, 24)))
    service.listings += ShardPage(shards(2), None)
    val environment = new VirtualEnvironment(time, service)
    private val options = Map(
      "streamName" -> names.mkString(","),
      "region" -> "us-east-1",
      "awsAccessKey" -> "test",
      "awsSecretKey" -> "test",
      "failOnDataLoss" -> failOnDataLoss.toString
    )
    val check = new CheckpointCheck(
      new StreamSession(Options.read(options), QueryContext.Unknown, environment),
      environment
    )
    def listings: Int = service.callsOf(Operation.ListShards).size
    def lost: Seq[String] = environment.losses.map(_.condition).toSeq
  }

  private def readUpTo(millis: Long): ShardPosition = ShardPosition.After(SequenceNumber("7"), millis)

  private def stream(name: String, created: Long, positions: (Int, ShardPosition)*): StreamOffset = StreamOffset(
    name,
    arn(name),
    created,
    positions.map { case (index, position) => ShardId.ofIndex(index.toLong) -> position }.to(SortedMap)
  )

  test("an offset of unchanged streams is returned as it is, without a service call") {
    val rig = new Rig(Seq("clicks", "orders"))
    val offset = SourceOffset(Seq("clicks", "orders").map(stream(_, Created, 0 -> readUpTo(5))))
    assert(rig.check.mend(offset) eq offset)
    assert(rig.listings == 0)
  }

  test("an offset of which no stream is read any more is an error that names both sets") {
    Seq(Seq("clicks"), Seq("clicks", "views"), Nil).foreach { names =>
      val offset = SourceOffset(names.map(stream(_, Created, 0 -> readUpTo(5))))
      val error = intercept[KinesisConnectorException](new Rig().check.mend(offset))
      assert(error.condition == "KINESIS_CHECKPOINT_OTHER_STREAM")
      assert(error.parameters("checkpointStream") == names.map(arn).mkString(", "))
      assert(error.parameters("stream") == arn("orders"))
    }
  }

  test("an offset of more or of fewer streams is returned as it is") {
    Seq(Seq("clicks", "orders"), Seq("orders")).foreach { names =>
      val offset = SourceOffset(names.map(stream(_, Created, 0 -> readUpTo(5))))
      assert(new Rig(Seq("orders", "views")).check.mend(offset) eq offset)
    }
  }

  test("a recreated stream ends the query with both creation times") {
    val error = intercept[KinesisConnectorException] {
      new Rig().check.mend(SourceOffset(Seq(stream("orders", Created - 1000, 0 -> readUpTo(5)))))
    }
    assert(error.condition == "KINESIS_STREAM_RECREATED")
    assert(error.parameters("checkpointCreation") == "2020-09-13T12:26:39Z")
    assert(error.parameters("creation") == "2020-09-13T12:26:40Z")
  }

  test("if loss is allowed, a recreated stream starts at its oldest record and others continue, with one event") {
    val rig = new Rig(Seq("clicks", "orders"), failOnDataLoss = false)
    val clicks = stream("clicks", Created, 0 -> readUpTo(5))
    val offset = SourceOffset(Seq(clicks, stream("orders", Created - 1000, 9 -> readUpTo(5))))
    val mended = rig.check.mend(offset)
    assert(mended.streams(arn("clicks")) == clicks)
    val fresh = stream("orders", Created, 0 -> ShardPosition.Horizon, 1 -> ShardPosition.Horizon)
    assert(mended.streams(arn("orders")) == fresh)
    assert(rig.lost == Seq("KINESIS_STREAM_RECREATED"))
    assert(rig.environment.recorded.all ==
      Vector(StreamRecreated(arn("orders"), Created - 1000, Created, endsQuery = false)))

    val listings = rig.listings
    assert(rig.check.mend(offset) == mended)
    assert(rig.check.mend(mended) eq mended)
    assert(rig.lost.size == 1 && rig.listings == listings)
  }

  /** Returns the time this long before the virtual clock's start. */
  private def ago(time: FiniteDuration): Long = new VirtualScheduler().currentMillis - time.toMillis

  test("a child that was never read is data loss if its parent was read to its end before the retention period") {
    Seq(25.hours -> true, 23.hours -> false).foreach { case (age, isLost) =>
      val rig = new Rig(failOnDataLoss = false)
      val (parent, child) = (shards(1).head, shards(2).last.copy(parent = Some(ShardId.ofIndex(0))))
      rig.service.listings.clear()
      rig.service.listings += ShardPage(Seq(parent, child.copy(hashKeyRange = parent.hashKeyRange)), None)
      val ended = stream("orders", Created, 0 -> ShardPosition.ShardEnd)
        .copy(since = SortedMap(ShardId.ofIndex(0) -> ago(age)))
      rig.check.warnOfExpired(rig.check.link(SourceOffset(Seq(ended))))
      assert(rig.lost == (if (isLost) Seq("KINESIS_DATA_LOSS") else Nil), age)
    }
  }

  test("a position whose next records may have expired is data loss; a position within the retention period is not") {
    val table = Seq(
      readUpTo(ago(25.hours)) -> true,
      readUpTo(ago(23.hours)) -> false,
      ShardPosition.Start(StartingPosition.AtTimestamp(ago(25.hours))) -> true,
      ShardPosition.Start(StartingPosition.AtTimestamp(ago(23.hours))) -> false,
      ShardPosition.Horizon -> false,
      ShardPosition.ShardEnd -> false
    )
    table.foreach { case (position, isLost) =>
      val offset = SourceOffset(Seq(stream("orders", Created, 0 -> readUpTo(ago(1.hour)), 1 -> position)))
      val lenient = new Rig(failOnDataLoss = false)
      lenient.check.warnOfExpired(offset)
      assert(lenient.lost == (if (isLost) Seq("KINESIS_DATA_LOSS") else Nil), position)

      val strict = new Rig()
      if (isLost) {
        val error = intercept[KinesisConnectorException](strict.check.warnOfExpired(offset))
        assert(error.condition == "KINESIS_DATA_LOSS")
        assert(error.parameters("shard") == ShardId.ofIndex(1).value && error.parameters("stream") == "orders")
        assert(error.parameters("reason").contains("keeps 24 hours"))
      } else strict.check.warnOfExpired(offset)
    }
  }

  test("records of a shard that expire between the check at the start and its first fetch are reported") {
    val rig = new Rig()
    val (shard, until) = (StreamShard(arn("orders"), ShardId.ofIndex(0)), ago(24.hours - 1.minute))
    rig.check.warnOfExpired(SourceOffset(Seq(stream("orders", Created, 0 -> readUpTo(until)))))
    rig.check.warnOfOvertaken(shard, until)
    rig.time.advance(2.minutes)
    val error = intercept[KinesisConnectorException](rig.check.warnOfOvertaken(shard, until))
    assert(error.condition == "KINESIS_DATA_LOSS" && error.parameters("shard") == shard.shard.value)
  }

  test("a batch that runs again knows the arrival of the first records that have not expired and may expire soon") {
    val rig = new Rig(failOnDataLoss = false)
    val shards = (0 to 2).map(i => ShardId.ofIndex(i.toLong))
    val start = stream("orders", Created, (0 to 2).map(_ -> ShardPosition.Horizon): _*)
    val end = stream("orders", Created, (0 to 2).map(_ -> readUpTo(ago(1.hour))): _*)
      .copy(begun = SortedMap(shards(0) -> ago(23.hours), shards(1) -> ago(25.hours), shards(2) -> ago(17.hours)))
    val read = shards.map(StreamShard(arn("orders"), _))
    val first = rig.check.warnOfExpiredBatch(SourceOffset(Seq(start)), SourceOffset(Seq(end)), read.toSet)
    assert(first == Map(read(0) -> ago(23.hours)))
    assert(rig.lost == Seq("KINESIS_DATA_LOSS"))
  }

  test("each stream's own retention period is checked once per query") {
    val rig = new Rig(Seq("clicks", "orders"), failOnDataLoss = false, retention = Map("clicks" -> 48))
    val old = readUpTo(ago(30.hours))
    val offset = SourceOffset(Seq("clicks", "orders").map(stream(_, Created, 0 -> old)))
    rig.check.warnOfExpired(offset)
    assert(rig.environment.losses.map(_.parameters("stream")) == Seq("orders"))
    rig.check.warnOfExpired(offset)
    assert(rig.lost.size == 1)
  }
}
