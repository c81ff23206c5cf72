package org.sparkkinesis.spark.coordinator

import java.util.concurrent.{CountDownLatch, LinkedBlockingQueue, TimeUnit}

import scala.concurrent.duration._
import scala.util.Using

import org.apache.spark.sparkkinesis.ListenerEvents

import org.sparkkinesis.event.ShardEnded
import org.sparkkinesis.model._
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.plan.offset.SourceOffset
import org.sparkkinesis.spark.connection.FakeDirectory
import org.sparkkinesis.spark.coordinator.cluster.SparkCluster
import org.sparkkinesis.spark.protocol.Unassign

/** Tests in which order the shards of a lineage are assigned, and how listings complete it. */
class CoordinatorLineageSuite extends CoordinatorFixture {
  import FakeExecutor.news

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
    // The listing of the start, one that is older than the end that requested it, and then complete ones.
    val listings = new LinkedBlockingQueue(java.util.List.of(listing, listing, later))
    val told = new CountDownLatch(listings.size)
    def list() = {
      told.countDown()
      if (listings.size > 1) listings.remove() else listings.element()
    }
    Using.resource(new Setup(Seq("driver"), _ => list())) { s =>
      s.coordinator.advance(start)
      val epochs = s.assigned().view.mapValues(_._2).toMap
      val child = ChildShard(id(9), Seq(id(1), id(7)), merged)
      s("driver").tell(news(shard(1), epochs(shard(1)), Seq(10), Some(Seq(child))))
      assert(told.await(20, TimeUnit.SECONDS), s"${told.getCount} listings were not requested")
      val children = Seq(ChildShard(id(7), Seq(id(2)), left), ChildShard(id(8), Seq(id(2)), right))
      s("driver").tell(news(shard(2), epochs(shard(2)), Seq(10), Some(children)))
      val between = s("driver").nextAssign()
      assert(between.map(_.shard).toSet == Set(shard(7), shard(8)))
      s("driver").tell(news(shard(7), between.find(_.shard == shard(7)).get.epoch, Seq(20), Some(Seq(child))))
      assert(s("driver").nextAssign().map(_.shard) == Seq(shard(9)))
    }
  }

  test("a stream that was recreated is listed and assigned anew, and its fetched records are dropped") {
    val other = FakeDirectory.shards(2).map(_.copy(startingSequenceNumber = number(50)))
    @volatile var listed: Seq[Shard] = listing
    Using.resource(new Setup(Seq("driver"), _ => listed)) { s =>
      val view = s.coordinator.prefetched
      s.coordinator.advance(start)
      val old = s("driver").nextAssign()
      s("driver").tell(old.map(one => news(one.shard, one.epoch, Seq(10))): _*)
      rows(s)(4)
      assert(view.takeDoubtful().isEmpty)
      // A shard whose children are unknown requires another listing, and that one has other shards of the same names.
      listed = other
      s("driver").tell(news(shard(3), old.find(_.shard == shard(3)).get.epoch, Seq(11), Some(Nil)))
      val deadline = timeLimit.fromNow
      val found = Iterator.continually(view.takeDoubtful()).find(_.nonEmpty || !deadline.hasTimeLeft())
      assert(found.contains(Set(arn)) && view.takeDoubtful().isEmpty)
      view.doubt(Set(arn, "another stream"))
      assert(view.takeDoubtful() == Set(arn))

      val again =
        start.streams(arn).copy(creationMillis = 2, shards = offset(0 -> after(5), 1 -> after(6)).streams(arn).shards)
      val inOther = SourceOffset(Seq(again))
      assert(s.coordinator.knowsOther(inOther) && !s.coordinator.knowsOther(start))
      s.coordinator.know(arn, other)
      s.coordinator.advance(inOther)
      assert(!s.coordinator.knowsOther(inOther))
      assert(view.availableRows == 0)
      s("driver").next() match {
        case Unassign(left) => assert(left.toSet == old.map(_.shard).toSet)
        case message => fail(s"$message")
      }
      val assigned = s("driver").nextAssign()
      assert(assigned.map(one => one.shard -> Option(one.position)).toMap ==
        Map(shard(0) -> after(5).resumeAt, shard(1) -> after(6).resumeAt))
      assert(assigned.forall(_.epoch > old.map(_.epoch).max), "reports of the old shards do not count")
      s("driver").tell(old.map(one => news(one.shard, one.epoch, Seq(12))): _*)
      s("driver").tell(assigned.map(one => news(one.shard, one.epoch, Seq(60))): _*)
      rows(s)(2)
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
      600000,
      () => System.currentTimeMillis(),
      () => 0L
    )
    val executor = new FakeExecutor("driver", sourceId)
    try {
      executor.register()
      broken.advance(start)
      // Fatal errors, which `intercept` does not catch, must end the query too.
      def failure =
        try { broken.advance(start); None }
        catch { case missing: NoClassDefFoundError => Some(missing.getMessage) }
      val deadline = 20.seconds.fromNow
      while (failure.isEmpty && deadline.hasTimeLeft())
        broken.prefetched.awaitChange(broken.prefetched.changes, 100)
      assert(failure == Some("no listing"))
    } finally {
      broken.close()
      executor.close()
    }
  }
}
