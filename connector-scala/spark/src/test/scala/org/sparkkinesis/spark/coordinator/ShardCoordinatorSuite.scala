package org.sparkkinesis.spark.coordinator

import java.util.concurrent.CountDownLatch

import scala.concurrent.duration._
import scala.util.Using

import org.apache.spark.sparkkinesis.ListenerEvents

import org.sparkkinesis.config.ConnectorVersion
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.event._
import org.sparkkinesis.plan._
import org.sparkkinesis.plan.offset.ShardPosition
import org.sparkkinesis.spark.protocol.{OtherMessage, ProtocolCodec, Release, StopAll, ToExecutor, Unassign}

/** Tests how shards are assigned to executors that join, fail and are lost. */
class ShardCoordinatorSuite extends CoordinatorFixture {
  import FakeExecutor.news

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

  test("shards move away from an executor that cannot reach their stream") {
    withSetup("driver", "1") { s =>
      s.coordinator.advance(start)
      val first = s.assigned()
      s("1").unreachable = Set(arn)
      s("1").tell()
      val moved = s("driver").nextAssign()
      assert(moved.map(_.shard).toSet == first.collect { case (shard, ("1", _)) => shard }.toSet)
      assert(s("1").next().asInstanceOf[Unassign].shards.toSet == moved.map(_.shard).toSet)
      assert(s.events.await[StreamUnreachable](1) == Vector(StreamUnreachable("1", arn, 2)))
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
      val error = failureOf(s)
      assert(error.condition == "KINESIS_CONSUMERS_FAILED")
      assert(error.getMessage.contains("NoClassDefFoundError: org/example/Missing"))
      assert(s.events.await[ExecutorFailed](4).map(_.id).toSet == Set("1"))
    }
  }

  /** Waits for the error that ends the query. */
  private def failureOf(s: Setup): KinesisConnectorException = {
    val deadline = 20.seconds.fromNow
    def failure = scala.util.Try(s.coordinator.prefetched.targets.isReached(AvailableNowTarget(0))).failed.toOption
    while (failure.isEmpty && deadline.hasTimeLeft())
      s.coordinator.prefetched.awaitChange(s.coordinator.prefetched.changes, 100)
    failure match {
      case Some(error: KinesisConnectorException) => error
      case other => fail(s"the query did not end with a condition: $other")
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
      assert(s.coordinator.prefetched.status(None, 0, ReadLimits.Unlimited, 10.seconds).shardsByExecutor ==
        Map("driver" -> 2, "1" -> 2))
    }
  }

  test("a repeated registration has no effect") {
    withSetup("driver") { s =>
      s.coordinator.advance(start)
      s.assigned()
      s("driver").register()
      s.coordinator.advance(offset((0 until 4).map(i => i -> (if (i == 2) after(50) else ShardPosition.Horizon)): _*))
      assert(s("driver").next() == Release(Seq(shard(2) -> number(50))))
      assert(s.coordinator.prefetched.status(None, 0, ReadLimits.Unlimited, 10.seconds).shardsByExecutor ==
        Map("driver" -> 4))
    }
  }

  test("every executor hears the service's time at a regular listing") {
    val began = System.currentTimeMillis()
    Using.resource(new Setup(Seq("driver", "1"), _ => listing, listMillis = 100)) { s =>
      s.coordinator.advance(start)
      s.all.values.foreach(executor => assert(executor.nextTime() >= began, executor.id))
    }
  }

  test("an executor with another version of the connector ends the query with an error that names both versions") {
    Seq("by its registration" -> true, "by a later message" -> false).foreach { case (how, registers) =>
      withSetup("driver") { s =>
        s.coordinator.advance(start)
        s.assigned()
        s("driver").sendOther(OtherMessage.of("9.8.7", ProtocolCodec.Format + 1), registers)
        val failure = failureOf(s)
        assert(failure.condition == "KINESIS_VERSIONS_DIFFER", how)
        assert(failure.getMessage.contains("9.8.7") && failure.getMessage.contains(ConnectorVersion.text), how)
      }
    }
  }

  test("closing stops the consumers of every executor") {
    val s = new Setup(Seq("driver", "1"), _ => listing)
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
