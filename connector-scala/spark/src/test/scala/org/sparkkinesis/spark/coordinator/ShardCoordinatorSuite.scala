package org.sparkkinesis.spark.coordinator

import java.util.concurrent.CountDownLatch

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._
import scala.util.Using

import org.apache.spark.sparkkinesis.ListenerEvents
import org.apache.spark.{SparkConf, SparkContext}
import org.scalatest.BeforeAndAfterAll

import org.sparkkinesis.aws.client.ClientSettings
import org.sparkkinesis.config.Options
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.event._
import org.sparkkinesis.model.{StreamShard, _}
import org.sparkkinesis.plan._
import org.sparkkinesis.spark.connection.RecordingEnvironment
import org.sparkkinesis.spark.protocol.{Release, SendFullReport, StopAll, ToExecutor, Unassign}
import org.sparkkinesis.spark.settings.ReadSettings
import org.sparkkinesis.suite.TimedSuite

class ShardCoordinatorSuite extends TimedSuite with BeforeAndAfterAll {
  import FakeExecutor.news

  private val arn = "arn:aws:kinesis:eu-central-1:123456789012:stream/orders"
  override protected def timeLimit: FiniteDuration = 1.minute

  private lazy val context = new SparkContext(
    new SparkConf().setMaster("local[1]").setAppName("coordinator").set("spark.ui.enabled", "false")
      .set("spark.driver.bindAddress", "127.0.0.1").set("spark.driver.host", "127.0.0.1")
  )
  private val settings = ReadSettings(
    Options.read(Map("streamName" -> "orders")),
    Map(arn -> ClientSettings(Some("us-east-1"), Some("http://127.0.0.1:9")))
  )

  override def afterAll(): Unit = context.stop()

  private def id(index: Int) = ShardId.ofIndex(index.toLong)
  private def shard(index: Int) = StreamShard(arn, id(index))
  private def number(value: Int) = SequenceNumber(value.toString)
  private def offset(shards: (Int, ShardPosition)*) =
    SourceOffset(Seq(StreamOffset("orders", arn, 1, shards.map { case (i, p) => id(i) -> p }.to(SortedMap))))
  private def after(last: Int) = ShardPosition.After(number(last), 0)
  private val start = offset((0 until 4).map(_ -> ShardPosition.Horizon): _*)
  private val listing = (0 until 4).map(i =>
    Shard(id(i), None, None, HashKeyRange.uniform(4)(i), number(1), None)
  )

  /** A coordinator with fake executors, so that no job has to start consumers. */
  private class Setup(executors: Seq[String], list: () => Seq[Shard]) extends AutoCloseable {
    val sourceId: String = java.util.UUID.randomUUID().toString
    val events = new RecordedEvents
    val coordinator = new ShardCoordinator(
      new SparkCluster(context),
      sourceId,
      settings,
      Seq(arn),
      _ => list(),
      600000,
      0,
      new RecordingEnvironment(events)
    )
    val all: Map[String, FakeExecutor] = executors.map(id => id -> new FakeExecutor(id, sourceId)).toMap
    all.values.foreach(_.register())
    def apply(id: String): FakeExecutor = all(id)

    /** Returns executor and epoch by shard, after every executor has received its share. */
    def assigned(): Map[StreamShard, (String, Long)] =
      all.values.flatMap(e => e.nextAssign().map(a => a.shard -> (e.id -> a.epoch))).toMap

    override def close(): Unit = {
      coordinator.close()
      all.values.foreach(_.close())
    }
  }

  private def withSetup(executors: String*)(body: Setup => Unit): Unit =
    Using.resource(new Setup(executors, () => listing))(body)

  private def rows(setup: Setup)(count: Long): Unit = {
    val deadline = 20.seconds.fromNow
    while (setup.coordinator.prefetched.availableRows != count) {
      assert(deadline.hasTimeLeft(), s"${setup.coordinator.prefetched.availableRows} rows, not $count")
      setup.coordinator.prefetched.awaitChange(setup.coordinator.prefetched.changes, 100)
    }
  }

  test("shards are spread evenly, and the remaining executor gets a lost executor's shards under newer epochs") {
    withSetup("driver", "1") { s =>
      s.coordinator.advance(start)
      val first = s.assigned()
      assert(first.values.map(_._1).toSeq.sorted == Seq("1", "1", "driver", "driver"))
      ListenerEvents.executorRemoved(context, "1")
      val moved = s("driver").nextAssign()
      assert(moved.map(_.shard).toSet == first.collect { case (shard, ("1", _)) => shard }.toSet)
      assert(moved.map(_.epoch).min > first.values.map(_._2).max)
      val assignments = s.events.await[ShardsAssigned](3)
      assert(s.events.of[ExecutorJoined].map(_.id).toSet == Set("driver", "1"))
      assert(s.events.of[ShardsListed].map(_.added.size) == Vector(4))
      assert(s.events.of[ExecutorLost] == Vector(ExecutorLost("1", 2)))
      assert(assignments.map(event => event.executor -> event.shards.size).sorted ==
        Vector("1" -> 2, "driver" -> 2, "driver" -> 2))
      assert(assignments.last.shards.map(_._1).toSet == moved.map(_.shard.shard).toSet)
    }
  }

  test("shards move away from an executor whose consumers failed, and repeated failures end the query") {
    withSetup("driver", "1") { s =>
      s.coordinator.advance(start)
      val first = s.assigned()
      s("1").breakDown("java.lang.NoClassDefFoundError: org/example/Missing")
      val moved = s("driver").nextAssign()
      assert(moved.map(_.shard).toSet == first.collect { case (shard, ("1", _)) => shard }.toSet)
      (2 to 4).foreach { _ =>
        s("1").register()
        s("1").breakDown("java.lang.NoClassDefFoundError: org/example/Missing")
      }
      val deadline = 20.seconds.fromNow
      def failure = scala.util.Try(s.coordinator.prefetched.isReached(AvailableNowTarget(0))).failed.toOption
      while (failure.isEmpty && deadline.hasTimeLeft())
        s.coordinator.prefetched.awaitChange(s.coordinator.prefetched.changes, 100)
      failure match {
        case Some(error: KinesisConnectorException) =>
          assert(error.condition == "KINESIS_CONSUMERS_FAILED")
          assert(error.getMessage.contains("NoClassDefFoundError: org/example/Missing"))
          assert(s.events.await[ExecutorFailed](4).map(_.id).toSet == Set("1"))
        case other => fail(s"the query did not end with a condition: $other")
      }
    }
  }

  test("a lost executor's shards move while every task slot is in use and a job waits for one") {
    val (running, end) = (new CountDownLatch(1), new CountDownLatch(1))
    ShardCoordinatorSuite.slot = (running, end)
    val batch = new Thread(() =>
      context.makeRDD(Seq(1), 1).foreach { _ =>
        ShardCoordinatorSuite.slot._1.countDown()
        ShardCoordinatorSuite.slot._2.await()
      }
    )
    batch.start()
    running.await()
    try
      // No executor registers as "driver", so a job tries to start consumers there and waits for the slot.
      withSetup("1", "2") { s =>
        s.coordinator.advance(start)
        s.assigned()
        ListenerEvents.executorRemoved(context, "1")
        assert(s("2").nextAssign().size == 2)
      }
    finally {
      end.countDown()
      batch.join()
    }
  }

  test("a gap in the reports requests a full report, and requests it again when it does not arrive") {
    withSetup("driver") { s =>
      s.coordinator.advance(start)
      val epochs = s.assigned().view.mapValues(_._2).toMap
      s("driver").tell(news(shard(0), epochs(shard(0)), Seq(10)))
      rows(s)(1)
      s("driver").loseReport()
      s("driver").tell(news(shard(0), epochs(shard(0)), Seq(30)))
      assert(s("driver").next() == SendFullReport)
      (1L to ConsumerPeer.ReportsUntilAskedAgain).foreach(_ => s("driver").tell())
      assert(s("driver").next() == SendFullReport)
      s("driver").tellAll((0 until 4).map(i =>
        news(shard(i), epochs(shard(i)), Seq(10, 20, 30).filter(_ => i == 0))
      ): _*)
      rows(s)(3)
      assert(s("driver").heardNothing)
      assert(s.events.await[ReportMissed](2) == Vector.fill(2)(ReportMissed("driver")))
    }
  }

  test("a shard that a full report does not name is assigned again") {
    withSetup("driver") { s =>
      s.coordinator.advance(start)
      val epochs = s.assigned().view.mapValues(_._2).toMap
      s("driver").loseReport()
      s("driver").tell()
      assert(s("driver").next() == SendFullReport)
      s("driver").tellAll((0 until 3).map(i => news(shard(i), epochs(shard(i)))): _*)
      val again = s("driver").nextAssign()
      assert(again.map(_.shard) == Seq(shard(3)))
      assert(again.head.epoch > epochs.values.max)
    }
  }

  test("reports of an older epoch are ignored") {
    withSetup("driver", "1") { s =>
      s.coordinator.advance(start)
      val first = s.assigned()
      ListenerEvents.executorRemoved(context, "1")
      val moved = s("driver").nextAssign()
      val lost = moved.head
      s("driver").tell(news(lost.shard, first(lost.shard)._2, Seq(10)))
      s("driver").tell(news(lost.shard, lost.epoch, Seq(5)))
      rows(s)(1)
    }
  }

  test("an executor that reads another executor's shard is stopped") {
    withSetup("driver", "1") { s =>
      s.coordinator.advance(start)
      val first = s.assigned()
      val (foreign, (_, epoch)) = first.find(_._2._1 == "1").get
      s("driver").tell(news(foreign, epoch, Seq(10)))
      assert(s("driver").next() == Unassign(Seq(foreign)))
      assert(s.coordinator.prefetched.availableRows == 0L)
    }
  }

  test("an executor that registers again is accepted, and its earlier reads are adopted or stopped") {
    withSetup("driver", "1") { s =>
      s.coordinator.advance(start)
      val first = s.assigned()
      ListenerEvents.executorRemoved(context, "1")
      s("driver").nextAssign()
      s("1").register()
      val back = s("1").nextAssign()
      assert(back.size == 2)
      assert(back.map(_.epoch).min > first.values.map(_._2).max)
      assert(s.coordinator.prefetched.status(None, 0).shardsByExecutor == Map("driver" -> 2, "1" -> 2))
    }
  }

  test("a repeated registration has no effect") {
    withSetup("driver") { s =>
      s.coordinator.advance(start)
      s.assigned()
      s("driver").register()
      s.coordinator.advance(offset((0 until 4).map(i => i -> (if (i == 2) after(50) else ShardPosition.Horizon)): _*))
      assert(s("driver").next() == Release(Seq(shard(2) -> number(50))))
      assert(s.coordinator.prefetched.status(None, 0).shardsByExecutor == Map("driver" -> 4))
    }
  }

  test("planned records are released before they are reported, and again when they are reported late") {
    withSetup("driver") { s =>
      s.coordinator.advance(start)
      val epochs = s.assigned().view.mapValues(_._2).toMap
      s.coordinator.advance(offset((0 until 4).map(i => i -> (if (i == 2) after(50) else ShardPosition.Horizon)): _*))
      assert(s("driver").next() == Release(Seq(shard(2) -> number(50))))
      s("driver").tell(news(shard(2), epochs(shard(2)), Seq(40, 60)))
      assert(s("driver").next() == Release(Seq(shard(2) -> number(50))))
      rows(s)(1)
    }
  }

  test("children of a split are read once their parent's end is fetched, and again after the owner was lost") {
    withSetup("driver", "1") { s =>
      s.coordinator.advance(start)
      val first = s.assigned()
      val range = HashKeyRange.uniform(4)(0)
      val middle = (range.start + range.end) / 2
      val children = Seq(
        ChildShard(id(8), Seq(id(0)), HashKeyRange(range.start, middle)),
        ChildShard(id(9), Seq(id(0)), HashKeyRange(middle + 1, range.end))
      )
      val (owner, epoch) = first(shard(0))
      s(owner).tell(news(shard(0), epoch, Seq(10), Some(children)))
      assert(owner == "1")
      assert(s("1").nextAssign().map(_.shard).toSet == Set(shard(8), shard(9)))
      // The end is not planned yet, so the next reader of the parent must reach it again.
      ListenerEvents.executorRemoved(context, "1")
      val moved = s("driver").nextAssign()
      assert(moved.map(_.shard).toSet == Set(shard(0), shard(2)))
      val again = moved.find(_.shard == shard(0)).get
      s("driver").tell(news(shard(0), again.epoch, Seq(10), Some(children)))
      val last = s("driver").nextAssign()
      assert(last.map(_.shard).toSet == Set(shard(8), shard(9)))
      assert(last.map(_.epoch).min > again.epoch)
      // The next owner reports the end again, because the first report was lost with its owner.
      assert(s.events.await[ShardEnded](2) == Vector.fill(2)(ShardEnded(arn, id(0), Seq(id(8), id(9)))))
    }
  }

  test("the child of a merge waits for a parent that only a later listing shows") {
    val (middle, last) = (listing(2).hashKeyRange.start + 1, listing(2).hashKeyRange.end)
    val (left, right) = (HashKeyRange(listing(2).hashKeyRange.start, middle), HashKeyRange(middle + 1, last))
    val merged = HashKeyRange(listing(1).hashKeyRange.start, middle)
    val later = listing ++ Seq(
      Shard(id(7), Some(id(2)), None, left, number(1), None),
      Shard(id(8), Some(id(2)), None, right, number(1), None),
      Shard(id(9), Some(id(1)), Some(id(7)), merged, number(1), None)
    )
    // The listing of the start, one that is older than the end that requested it, and a complete one.
    val listings = new java.util.concurrent.LinkedBlockingQueue(java.util.List.of(listing, listing, later))
    val told = new CountDownLatch(listings.size)
    def list() = {
      told.countDown()
      listings.remove()
    }
    Using.resource(new Setup(Seq("driver"), () => list())) { s =>
      s.coordinator.advance(start)
      val epochs = s.assigned().view.mapValues(_._2).toMap
      val child = ChildShard(id(9), Seq(id(1), id(7)), merged)
      s("driver").tell(news(shard(1), epochs(shard(1)), Seq(10), Some(Seq(child))))
      assert(told.await(20, java.util.concurrent.TimeUnit.SECONDS), s"${told.getCount} listings were not requested")
      val children = Seq(ChildShard(id(7), Seq(id(2)), left), ChildShard(id(8), Seq(id(2)), right))
      s("driver").tell(news(shard(2), epochs(shard(2)), Seq(10), Some(children)))
      val between = s("driver").nextAssign()
      assert(between.map(_.shard).toSet == Set(shard(7), shard(8)))
      s("driver").tell(news(shard(7), between.find(_.shard == shard(7)).get.epoch, Seq(20), Some(Seq(child))))
      assert(s("driver").nextAssign().map(_.shard) == Seq(shard(9)))
    }
  }

  test("a permanent failure of a listing ends the query with its reason") {
    val sourceId = java.util.UUID.randomUUID().toString
    val broken = new ShardCoordinator(
      new SparkCluster(context),
      sourceId,
      settings,
      Seq(arn),
      _ => throw new NoClassDefFoundError("no listing"),
      600000
    )
    val executor = new FakeExecutor("driver", sourceId)
    try {
      executor.register()
      broken.advance(start)
      broken.prefetched.awaitChange(broken.prefetched.changes, 20000)
      // Fatal errors, which `intercept` does not catch, must end the query too.
      val failure =
        try { broken.advance(start); None }
        catch { case missing: NoClassDefFoundError => Some(missing.getMessage) }
      assert(failure == Some("no listing"))
    } finally {
      broken.close()
      executor.close()
    }
  }

  test("closing stops the consumers of every executor") {
    val s = new Setup(Seq("driver", "1"), () => listing)
    s.coordinator.advance(start)
    s.assigned()
    s.coordinator.close()
    assert(s.all.values.map(_.next()).toSet == Set[ToExecutor](StopAll))
    s.close()
  }
}

object ShardCoordinatorSuite {

  /** Latches for a task in this JVM: the first signals that it runs, the second ends it. */
  @volatile private var slot: (CountDownLatch, CountDownLatch) = _
}
