package org.sparkkinesis.spark.coordinator

import org.apache.spark.sparkkinesis.ListenerEvents

import org.sparkkinesis.event.ReportMissed
import org.sparkkinesis.plan.offset.ShardPosition
import org.sparkkinesis.spark.coordinator.state.ConsumerPeer
import org.sparkkinesis.spark.protocol.{Release, SendFullReport}

/** Tests what the coordinator takes from reports, and what it releases. */
class CoordinatorReportsSuite extends CoordinatorFixture {
  import FakeExecutor.news

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

  test("records that are dropped to make room can still be planned, and none are dropped while a report is missing") {
    withSetup("driver") { s =>
      s.coordinator.advance(start)
      val epochs = s.assigned().view.mapValues(_._2).toMap
      s("driver").tell(news(shard(0), epochs(shard(0)), Seq(10)))
      rows(s)(1)
      s.coordinator.prefetched.readAhead()
      assert(s("driver").next() == Release(Seq(shard(0) -> number(10))))
      s("driver").loseReport()
      s("driver").tell(news(shard(0), epochs(shard(0)), Seq(30)))
      assert(s("driver").next() == SendFullReport)
      rows(s)(2)
      s.coordinator.prefetched.readAhead()
      s("driver").tellAll((0 until 4).map(i =>
        news(shard(i), epochs(shard(i)), Seq(20, 30).filter(_ => i == 0))
      ): _*)
      rows(s)(3)
      s.coordinator.prefetched.readAhead()
      assert(s("driver").next() == Release(Seq(shard(0) -> number(30))))
      assert(s("driver").heardNothing)
    }
  }
}
