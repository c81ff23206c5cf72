package org.sparkkinesis.shard

import java.util.concurrent.{CompletableFuture, CompletionException}

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Futures, VirtualScheduler}
import org.sparkkinesis.consume.FakeKinesis
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{SequenceNumber, Shard, ShardId, StreamRef}
import org.sparkkinesis.retry.{Retrier, RetryPolicy, RetryRules}
import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException, ShardFilter, ShardPage}
import org.sparkkinesis.suite.TimedSuite

class ShardListerSuite extends TimedSuite {
  private val orders = StreamRef.ByName("orders")
  private val policy = RetryPolicy(Some(2), 1.second, 4.seconds, 2)

  private val all: Vector[Shard] = HashKeyRange.uniform(4).zipWithIndex.map { case (range, i) =>
    Shard(ShardId.ofIndex(i.toLong), None, None, range, SequenceNumber("1"), None)
  }.toVector

  /** Answers ListShards with the given pages. The last page is repeated. */
  private class Pages(time: VirtualScheduler, pages: ShardPage*) extends FakeKinesis(time) {
    private val left = mutable.Queue.from(pages)
    val tokens = mutable.ArrayBuffer.empty[Option[String]]
    override def listShards(
        stream: StreamRef,
        filter: ShardFilter,
        next: Option[String]
    ): CompletableFuture[ShardPage] = {
      tokens += next
      answer(Operation.ListShards)(if (left.size > 1) left.dequeue() else left.head)
    }
  }

  private class Rig(pages: ShardPage*) {
    val time = new VirtualScheduler
    val service = new Pages(time, pages: _*)
    val lister =
      new ShardLister(service.listShards(_, _, _), new Retrier(time, RetryRules.Default, () => 0.5), policy, time)
    def await[A](answer: CompletableFuture[A]): A = {
      time.advanceUntil(1.hour)(answer.isDone)
      try answer.join()
      catch { case failure: CompletionException => throw Futures.unwrap(failure) }
    }
    def list(): Seq[Shard] = await(lister.list(orders, ShardFilter.AtLatest))
    def complete(): ShardListing = await(lister.complete(orders, ShardFilter.AtLatest))
  }

  test("all pages are combined, with each shard once") {
    val rig =
      new Rig(ShardPage(all.take(2), Some("a")), ShardPage(all.slice(1, 3), Some("b")), ShardPage(all.drop(3), None))
    assert(rig.list() == all)
    assert(rig.service.tokens.toSeq == Seq(None, Some("a"), Some("b")))
  }

  test("a failed page is requested again, and the previous pages are kept") {
    val rig = new Rig(ShardPage(all.take(2), Some("a")), ShardPage(all.drop(2), None))
    rig.time.schedule(5.millis)(rig.service.fail(Operation.ListShards, ServiceErrorKind.LimitExceeded))
    assert(rig.list() == all)
    assert(rig.service.tokens.toSeq == Seq(None, Some("a"), Some("a")))
  }

  test("a listing whose token expires starts again") {
    val rig = new Rig(ShardPage(all.take(1), Some("stale")), ShardPage(all, None))
    rig.time.schedule(5.millis)(rig.service.fail(Operation.ListShards, ServiceErrorKind.ExpiredNextToken))
    assert(rig.list() == all)
    assert(rig.service.tokens.toSeq == Seq(None, Some("stale"), None))
  }

  Seq(
    "an expired token although none was sent" -> Seq(ServiceErrorKind.ExpiredNextToken),
    "a final failure" -> Seq(ServiceErrorKind.AccessDenied),
    "more failures than retries" -> Seq.fill(3)(ServiceErrorKind.Internal)
  ).foreach { case (what, kinds) =>
    test(s"a listing fails after $what") {
      val rig = new Rig(ShardPage(all, None))
      rig.service.fail(Operation.ListShards, kinds: _*)
      assert(intercept[ServiceException](rig.list()).kind == kinds.head)
      assert(rig.service.tokens.size == kinds.size)
    }
  }

  test("a listing that lacks a shard is requested again after growing pauses until it is complete") {
    val hole = ShardPage(all.patch(2, Nil, 1), None)
    val rig = new Rig(hole, hole, ShardPage(all, None))
    assert(rig.complete() == ShardListing(all, None))
    assert(rig.service.tokens.size == 3)
    assert(rig.time.nanoTime.nanos >= policy.bound(1) + policy.bound(2))
  }

  test("listings that lack different shards make one") {
    val rig = new Rig(ShardPage(all.patch(2, Nil, 1), None), ShardPage(all.patch(0, Nil, 1), None))
    val listing = rig.complete()
    assert(listing.gap.isEmpty && listing.shards.toSet == all.toSet)
    assert(rig.service.tokens.size == 2)
  }

  test("if every listing lacks a shard, the result has the hash keys without a shard") {
    val lacking = all.patch(2, Nil, 1)
    val rig = new Rig(ShardPage(lacking, None))
    assert(rig.complete() == ShardListing(lacking, Some(all(2).hashKeyRange)))
    assert(rig.service.tokens.size == ShardLister.Listings)
  }
}
