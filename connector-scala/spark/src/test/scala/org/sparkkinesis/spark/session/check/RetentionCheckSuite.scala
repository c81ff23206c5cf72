package org.sparkkinesis.spark.session.check

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.event.RetentionNotRead
import org.sparkkinesis.model.{ShardId, StartingPosition, StreamShard}
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset, StreamPhase}
import org.sparkkinesis.service.{Operation, ShardPage}
import org.sparkkinesis.spark.connection.FakeDirectory.{arn, shards}
import org.sparkkinesis.spark.coordinator.state.Overtaken
import org.sparkkinesis.spark.session.SessionFixture
import org.sparkkinesis.spark.session.checkpoint.MemoryFiles

class RetentionCheckSuite extends SessionFixture {
  final private class Rig(
      names: Seq[String] = Seq("orders"),
      failOnDataLoss: Boolean = true,
      retention: Map[String, Int] = Map.empty
  ) extends SessionRig(names, failOnDataLoss, retention) {
    val files = new MemoryFiles
    val retained = new RetentionCheck(session, files)

    /** Returns the check of the next run of the query. */
    def restarted: RetentionCheck = new RetentionCheck(session, files)
  }

  test("a child that was never read is data loss if its parent was read to its end before the retention period") {
    Seq(25.hours -> true, 23.hours -> false).foreach { case (age, isLost) =>
      val rig = new Rig(failOnDataLoss = false)
      val (parent, child) = (shards(1).head, shards(2).last.copy(parent = Some(ShardId.ofIndex(0))))
      rig.service.listings.clear()
      rig.service.listings += ShardPage(Seq(parent, child.copy(hashKeyRange = parent.hashKeyRange)), None)
      val ended = stream("orders", Created, 0 -> ShardPosition.ShardEnd)
        .copy(since = SortedMap(ShardId.ofIndex(0) -> ago(age)))
      rig.retained.warnOfExpired(rig.check.link(SourceOffset(Seq(ended))), rig.check.graphs)
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
      lenient.retained.warnOfExpired(offset, lenient.check.graphs)
      assert(lenient.lost == (if (isLost) Seq("KINESIS_DATA_LOSS") else Nil), position)

      val strict = new Rig()
      if (isLost) {
        val error = intercept[KinesisConnectorException](strict.retained.warnOfExpired(offset, strict.check.graphs))
        assert(error.condition == "KINESIS_DATA_LOSS")
        assert(error.parameters("shard") == ShardId.ofIndex(1).value && error.parameters("stream") == "orders")
        assert(error.parameters("reason").contains("keeps 24 hours"))
      } else strict.retained.warnOfExpired(offset, strict.check.graphs)
    }
  }

  /** Returns a shard that a running query had read up to this long ago when it fetched newer records. */
  private def behind(time: FiniteDuration, shard: Int = 0): Overtaken =
    Overtaken(StreamShard(arn("orders"), ShardId.ofIndex(shard.toLong)), ago(time), time.toMillis)

  test("records of a shard that expire before a running query fetches them are reported") {
    val rig = new Rig()
    rig.retained.warnOfOvertaken(Seq(behind(23.hours + 59.minutes)), isLast = false)
    rig.time.advance(2.minutes)
    val error = intercept[KinesisConnectorException] {
      rig.retained.warnOfOvertaken(Seq(behind(24.hours + 1.minute)), isLast = false)
    }
    assert(error.condition == "KINESIS_DATA_LOSS" && error.parameters("shard") == ShardId.ofIndex(0).value)
  }

  test("a shard is late by the time that the service tells, not by that of a clock that was set forward") {
    Seq(23.hours -> false, 25.hours -> true).foreach { case (time, isLost) =>
      val rig = new Rig(failOnDataLoss = false)
      val described = rig.service.streams("orders")
      rig.service.streams("orders") = described.copy(answeredMillis = Some(rig.time.currentMillis))
      rig.retained.warnOfOvertaken(Seq(behind(time).copy(behindMillis = 40.hours.toMillis)), isLast = false)
      assert(rig.lost == (if (isLost) Seq("KINESIS_DATA_LOSS") else Nil), time)
      // The stream may have been deleted because of its age.
      rig.service.streams.clear()
      rig.retained.warnOfOvertaken(Seq(behind(time).copy(behindMillis = 40.hours.toMillis)), isLast = true)
      assert(rig.lost.size == (if (isLost) 2 else 1), time)
    }
  }

  test("after a suspension, a shard is judged by an answer that came after it") {
    val rig = new Rig(failOnDataLoss = false)
    def answers(): Unit = rig.service.streams("orders") =
      rig.service.streams("orders").copy(answeredMillis = Some(rig.time.currentMillis / 1000 * 1000))
    answers()
    rig.retained.warnOfOvertaken(Seq(behind(24.hours - 1.minute)), isLast = false)
    assert(rig.lost.isEmpty)
    val readUpTo = rig.time.currentMillis
    rig.time.suspend(25.hours)
    answers()
    val shard = StreamShard(arn("orders"), ShardId.ofIndex(1))
    rig.retained.warnOfOvertaken(Seq(Overtaken(shard, readUpTo, 25.hours.toMillis)), isLast = false)
    assert(rig.lost == Seq("KINESIS_DATA_LOSS"))
  }

  test("records that expire because the retention period is decreased while the query runs are reported") {
    val rig = new Rig(failOnDataLoss = false, retention = Map("orders" -> 168))
    rig.retained.warnOfOvertaken(Seq(behind(30.hours)), isLast = false)
    assert(rig.lost.isEmpty)
    rig.service.add("orders", creationMillis = Created, retentionHours = 24)
    // The period was read less than a minute ago, so the shard is judged later.
    rig.retained.warnOfOvertaken(Seq(behind(31.hours)), isLast = false)
    rig.retained.warnOfOvertaken(Seq(behind(25.hours)), isLast = false)
    assert(rig.lost.isEmpty)
    rig.time.advance(2.minutes)
    rig.retained.warnOfOvertaken(Nil, isLast = false)
    assert(rig.lost == Seq("KINESIS_DATA_LOSS"))
    assert(rig.environment.losses.head.parameters("reason").contains("keeps 24 hours"))
    rig.time.advance(2.minutes)
    rig.retained.warnOfOvertaken(Nil, isLast = false)
    assert(rig.lost.size == 1)
  }

  test("records that are older than the former retention period are no loss after it was increased") {
    val rig = new Rig()
    rig.service.add("orders", creationMillis = Created, retentionHours = 168)
    rig.retained.warnOfOvertaken(Seq(behind(30.hours)), isLast = true)
    assert(rig.lost.isEmpty && rig.retained.expiryMillis(arn("orders")) < ago(160.hours))
  }

  test("the retention period is requested once a minute, and only while a shard is behind") {
    val rig = new Rig(retention = Map("orders" -> 168))
    def requests = rig.service.callsOf(Operation.DescribeStreamSummary).size
    val atStart = requests
    rig.retained.warnOfOvertaken(Nil, isLast = false)
    assert(requests == atStart)
    (1 to 30).foreach { _ =>
      rig.retained.warnOfOvertaken(Seq(behind(30.hours), behind(40.hours, shard = 1)), isLast = false)
      rig.time.advance(10.seconds)
    }
    assert(requests == atStart + 5)
  }

  test("a running query whose driver is cut off goes on, and reports expired records later") {
    val rig = new Rig(failOnDataLoss = false)
    rig.service.isSilent = true
    val began = rig.time.currentMillis
    (1 to 100).foreach(_ => rig.retained.warnOfOvertaken(Seq(behind(30.hours)), isLast = false))
    assert(rig.lost.isEmpty && rig.time.currentMillis - began <= 10000)
    assert(rig.environment.recorded.all.collect { case event: RetentionNotRead => event.streamName } ==
      Vector(arn("orders")))
    rig.service.isSilent = false
    rig.time.advance(2.minutes)
    rig.retained.warnOfOvertaken(Nil, isLast = false)
    assert(rig.lost == Seq("KINESIS_DATA_LOSS"))
  }

  test("the next run reports expired records of shards that were read after the last check of a run that stops") {
    Seq(30.hours -> true, 23.hours + 59.minutes -> false).foreach { case (time, isLost) =>
      val rig = new Rig(failOnDataLoss = false)
      rig.retained.warnOfOvertaken(Nil, isLast = false)
      rig.retained.keep(Seq(behind(time)))
      assert(rig.lost.isEmpty)
      rig.restarted.warnOfOvertaken(Nil, isLast = false)
      assert(rig.lost == (if (isLost) Seq("KINESIS_DATA_LOSS") else Nil), time)
      rig.restarted.warnOfOvertaken(Nil, isLast = false)
      assert(rig.lost.size <= 1)
    }
  }

  test("a loss that ends the query is kept with all others until a run may lose data") {
    val strict = new Rig()
    strict.retained.keep(Seq(behind(30.hours), behind(31.hours, shard = 1), behind(1.hour, shard = 2)))
    (1 to 2).foreach { _ =>
      intercept[KinesisConnectorException](strict.restarted.warnOfOvertaken(Nil, isLast = false))
    }
    val lenient = new Rig(failOnDataLoss = false)
    lenient.files.texts ++= strict.files.texts
    lenient.restarted.warnOfOvertaken(Nil, isLast = false)
    assert(lenient.environment.losses.map(_.parameters("shard")) == Seq(0L, 1L).map(ShardId.ofIndex(_).value))
    lenient.restarted.warnOfOvertaken(Nil, isLast = false)
    assert(lenient.lost.size == 2 && lenient.files.texts.isEmpty)
  }

  test("records that expired are reported by the next run if the driver is killed before it reaches the service") {
    Seq(30.hours -> true, 23.hours + 59.minutes -> false).foreach { case (time, isLost) =>
      val rig = new Rig(failOnDataLoss = false)
      rig.service.isSilent = true
      rig.retained.warnOfOvertaken(Seq(behind(time)), isLast = false)
      rig.service.isSilent = false
      rig.restarted.warnOfOvertaken(Nil, isLast = false)
      assert(rig.lost == (if (isLost) Seq("KINESIS_DATA_LOSS") else Nil), time)
      rig.restarted.warnOfOvertaken(Nil, isLast = false)
      assert(rig.lost.size == (if (isLost) 1 else 0) && rig.files.texts.isEmpty)
    }
  }

  test("a run that fails at its end leaves the next run what it could not judge") {
    val rig = new Rig()
    rig.service.isSilent = true
    intercept[KinesisConnectorException](rig.retained.warnOfOvertaken(Seq(behind(30.hours)), isLast = true))
    assert(rig.lost.isEmpty)
    rig.service.isSilent = false
    val error = intercept[KinesisConnectorException](rig.restarted.warnOfOvertaken(Nil, isLast = false))
    assert(error.condition == "KINESIS_DATA_LOSS")
  }

  test("a reachable service needs no file for shards that are read late") {
    val rig = new Rig(retention = Map("orders" -> 168))
    rig.retained.warnOfOvertaken(Seq(behind(30.hours)), isLast = false)
    rig.retained.warnOfOvertaken(Seq(behind(40.hours)), isLast = false)
    assert(rig.files.texts.isEmpty)
  }

  test("a run that ends fails if it cannot know whether records have expired") {
    val rig = new Rig(failOnDataLoss = false)
    rig.service.isSilent = true
    rig.retained.warnOfOvertaken(Seq(behind(30.hours)), isLast = false)
    val error = intercept[KinesisConnectorException](rig.retained.warnOfOvertaken(Nil, isLast = true))
    assert(error.condition == "KINESIS_ENDPOINT_UNREACHABLE")
  }

  test("a batch that runs again knows the arrival of the first records that have not expired and may expire soon") {
    val rig = new Rig(failOnDataLoss = false)
    val shards = (0 to 2).map(i => ShardId.ofIndex(i.toLong))
    val start = stream("orders", Created, (0 to 2).map(_ -> ShardPosition.Horizon): _*)
    val end = stream("orders", Created, (0 to 2).map(_ -> readUpTo(ago(1.hour))): _*)
      .copy(begun = SortedMap(shards(0) -> ago(23.hours), shards(1) -> ago(25.hours), shards(2) -> ago(17.hours)))
    val read = shards.map(StreamShard(arn("orders"), _))
    val first = rig.retained.warnOfExpiredBatch(SourceOffset(Seq(start)), SourceOffset(Seq(end)), read.toSet)
    assert(first == Map(read(0) -> ago(23.hours)))
    assert(rig.lost == Seq("KINESIS_DATA_LOSS"))
  }

  test(
    "a batch that runs again with a stream that returned is judged by its first records, not by when it was parked"
  ) {
    val rig = new Rig(failOnDataLoss = false)
    val shards = (0 to 1).map(i => ShardId.ofIndex(i.toLong))
    val parked = stream("orders", Created, 0 -> readUpTo(ago(40.hours)), 1 -> readUpTo(ago(40.hours)))
      .copy(phase = StreamPhase.Parked(ago(40.hours), isDrained = true))
    // The batch reads the first shard to its end, and it had no more records.
    val end = stream("orders", Created, 0 -> ShardPosition.ShardEnd, 1 -> readUpTo(ago(1.hour)))
    def judge(arrival: FiniteDuration): Map[StreamShard, Long] = rig.retained.warnOfExpiredBatch(
      SourceOffset(Seq(parked)),
      SourceOffset(Seq(end.copy(begun = SortedMap(shards(1) -> ago(arrival))))),
      shards.map(StreamShard(arn("orders"), _)).toSet
    )
    assert(judge(23.hours) == Map(StreamShard(arn("orders"), shards(1)) -> ago(23.hours)) && rig.lost.isEmpty)
    assert(judge(25.hours).isEmpty && rig.lost == Seq("KINESIS_DATA_LOSS"))
  }

  test("each stream's own retention period is checked once per query") {
    val rig = new Rig(Seq("clicks", "orders"), failOnDataLoss = false, retention = Map("clicks" -> 48))
    val old = readUpTo(ago(30.hours))
    val offset = SourceOffset(Seq("clicks", "orders").map(stream(_, Created, 0 -> old)))
    rig.retained.warnOfExpired(offset, rig.check.graphs)
    assert(rig.environment.losses.map(_.parameters("stream")) == Seq("orders"))
    rig.retained.warnOfExpired(offset, rig.check.graphs)
    assert(rig.lost.size == 1)
  }
}
