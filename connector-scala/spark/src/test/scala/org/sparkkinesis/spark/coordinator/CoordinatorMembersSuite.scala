package org.sparkkinesis.spark.coordinator

import java.util.concurrent.CountDownLatch

import scala.collection.immutable.SortedMap
import scala.util.Using

import org.sparkkinesis.model.StreamShard
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset, StreamOffset, StreamPhase}
import org.sparkkinesis.plan.{AvailableNowTarget, ReadLimits}
import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException}
import org.sparkkinesis.spark.protocol.{Assign, Release, Unassign}
import org.sparkkinesis.spark.settings.StreamConnection

/** Tests streams that join and leave while the coordinator is running. */
class CoordinatorMembersSuite extends CoordinatorFixture {
  import FakeExecutor.news

  private val joined = "arn:aws:kinesis:eu-west-1:123456789012:stream/joined"
  private val one = offset(0 -> ShardPosition.Horizon)
  private val connection = StreamConnection("eu-west-1", Some("https://x"), None, None)

  private def withStream(phase: StreamPhase, position: ShardPosition = ShardPosition.Horizon): SourceOffset =
    SourceOffset(one.streams +
      (joined -> StreamOffset("joined", joined, 1, SortedMap(id(0) -> position), phase = phase)))

  private def oneShard(body: Setup => Unit): Unit =
    Using.resource(new Setup(Seq("driver"), _ => listing.take(1)))(body)

  test("a stream that joins is listed and assigned with its connection, and other shards are not assigned again") {
    oneShard { s =>
      s.coordinator.advance(one)
      assert(s("driver").nextAssign().map(_.shard) == Seq(shard(0)))
      s.coordinator.connect(Map(joined -> connection))
      s.coordinator.advance(withStream(StreamPhase.Active))
      val message = s("driver").next().asInstanceOf[Assign]
      assert(message.shards.map(_.shard) == Seq(StreamShard(joined, id(0))))
      assert(message.connections == Seq(joined -> connection))
    }
  }

  test("shards of a stream are assigned while the listing of another stream is not complete") {
    val isListed = new CountDownLatch(1)
    val slow = new Setup(Seq("driver"), stream => { if (stream == joined) isListed.await(); listing.take(1) })
    Using.resource(slow) { s =>
      try {
        s.coordinator.advance(withStream(StreamPhase.Active))
        assert(s("driver").nextAssign().map(_.shard) == Seq(shard(0)))
        assert(s("driver").heardNothing)
      } finally isListed.countDown()
      assert(s("driver").nextAssign().map(_.shard) == Seq(StreamShard(joined, id(0))))
    }
  }

  test("a stream that is parked is not read any more, and is assigned from its position when it returns") {
    oneShard { s =>
      s.coordinator.advance(withStream(StreamPhase.Active))
      s("driver").nextAssigned(2)
      s.coordinator.advance(withStream(StreamPhase.Parked(5, isDrained = true), after(3)))
      assert(s("driver").next() == Release(Seq(StreamShard(joined, id(0)) -> number(3))))
      assert(s("driver").next() == Unassign(Seq(StreamShard(joined, id(0)))))
      s.coordinator.advance(withStream(StreamPhase.Active, after(3)))
      val again = s("driver").nextAssign()
      assert(again.map(one => one.shard -> Option(one.position)) ==
        Seq(StreamShard(joined, id(0)) -> after(3).resumeAt))
    }
  }

  test("a changed connection assigns the shards of its stream again, and no other") {
    oneShard { s =>
      s.coordinator.connect(Map(joined -> connection))
      s.coordinator.advance(withStream(StreamPhase.Active))
      val first = s("driver").nextAssigned(2)
      val other = connection.copy(endpoint = Some("https://y"))
      s.coordinator.connect(Map(joined -> other))
      assert(s("driver").next() == Unassign(Seq(StreamShard(joined, id(0)))))
      s("driver").next() match {
        case Assign(Seq(again), _, connections) =>
          assert(again.shard == StreamShard(joined, id(0)) && again.epoch > first.map(_.epoch).max)
          assert(connections == Seq(joined -> other))
        case message => fail(s"$message")
      }
    }
  }

  test("records of a stream that waits are fetched, and planned when it does not wait any more") {
    oneShard { s =>
      val from = withStream(StreamPhase.Active)
      s.coordinator.advance(from, waiting = Set(joined))
      val assigned = s("driver").nextAssigned(2)
      s("driver").tell(assigned.map(one => news(one.shard, one.epoch, Seq(1, 2))): _*)
      rows(s)(4)
      def planned = s.coordinator.prefetched.plan(from, ReadLimits.Unlimited, None)
      assert(planned.exists(batch => batch.end.streams(joined) == from.streams(joined) && batch.rows == 2))
      s.coordinator.advance(from, waiting = Set.empty)
      assert(planned.exists(_.rows == 4))
    }
  }

  test("a stream is drained when everything up to the target is fetched and nothing is left to plan") {
    oneShard { s =>
      val from = withStream(StreamPhase.Draining(5))
      val target = AvailableNowTarget(1000)
      def isDrained = s.coordinator.prefetched.targets.isDrained(joined, target)
      s.coordinator.advance(from)
      assert(!isDrained)
      val epoch = s("driver").nextAssigned(2).find(_.shard.stream == joined).get.epoch
      val told = news(StreamShard(joined, id(0)), epoch, Seq(1, 2))
      s("driver").tell(told.copy(readUpToMillis = 2000, openUpToMillis = 2000))
      rows(s)(2)
      assert(!isDrained, "the records are not planned")
      s.coordinator.advance(withStream(StreamPhase.Draining(5), after(2)))
      assert(isDrained)
      assert(!s.coordinator.prefetched.targets.isDrained(joined, AvailableNowTarget(3000)))
    }
  }

  private val gone = new ServiceException(
    ServiceErrorKind.ResourceNotFound,
    Operation.DescribeStreamSummary,
    "ResourceNotFoundException",
    "not there"
  )

  /** Waits until the coordinator knows of a missing stream. */
  private def missing(setup: Setup): Seq[MissingStream] = {
    val view = setup.coordinator.prefetched
    val deadline = timeLimit.fromNow
    while (view.missing.isEmpty && deadline.hasTimeLeft()) view.awaitChange(view.changes, 100)
    view.missing
  }

  test("a stream that does not exist any more is missing when its fetched records are planned, and others are read") {
    Using.resource(new Setup(Seq("driver"), _ => listing.take(1), streamsMayLeave = true)) { s =>
      s.coordinator.advance(withStream(StreamPhase.Active))
      val assigned = s("driver").nextAssigned(2)
      val epoch = assigned.find(_.shard.stream == joined).get.epoch
      val last = news(StreamShard(joined, id(0)), epoch, Seq(1, 2)).copy(readUpToMillis = 2000, failure = Some(gone))
      s("driver").tell(last)
      rows(s)(2)
      assert(s.coordinator.prefetched.missing.isEmpty, "its records are not planned")
      s.coordinator.advance(withStream(StreamPhase.Active, after(2)))
      val found = missing(s)
      assert(found.map(one => (one.stream, one.isDrained)) == Seq((joined, true)))
      val other = assigned.find(_.shard.stream == arn).get
      s("driver").tell(news(other.shard, other.epoch, Seq(1)).copy(readUpToMillis = 2000, openUpToMillis = 2000))
      rows(s)(1)
      assert(s.coordinator.prefetched.targets.everythingIsFetched(AvailableNowTarget(1000)), "it is not waited for")
      s.coordinator.advance(withStream(StreamPhase.Parked(5, isDrained = true), after(2)))
      assert(s.coordinator.prefetched.missing.isEmpty)
    }
  }

  test("a stream that was never read to its tip is missing with unread records") {
    Using.resource(new Setup(Seq("driver"), _ => listing.take(1), streamsMayLeave = true)) { s =>
      s.coordinator.advance(withStream(StreamPhase.Active))
      val epoch = s("driver").nextAssigned(2).find(_.shard.stream == joined).get.epoch
      s("driver").tell(news(StreamShard(joined, id(0)), epoch).copy(failure = Some(gone)))
      assert(missing(s).map(_.isDrained) == Seq(false))
    }
  }

  test("the deletion of a stream ends a query whose streams do not change") {
    oneShard { s =>
      s.coordinator.advance(one)
      val assigned = s("driver").nextAssign().head
      s("driver").tell(news(assigned.shard, assigned.epoch).copy(failure = Some(gone)))
      val view = s.coordinator.prefetched
      val deadline = timeLimit.fromNow
      val failure = intercept[ShardFailed] {
        while (deadline.hasTimeLeft()) {
          view.plan(one, ReadLimits.Unlimited, None)
          view.awaitChange(view.changes, 100)
        }
      }
      assert(failure.error.getMessage == gone.getMessage)
    }
  }
}
