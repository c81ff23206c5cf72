package org.sparkkinesis.spark.executor

import scala.collection.mutable

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.concurrent.{BlockingWait, SystemClock}
import org.sparkkinesis.consume.ProgressListener
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.model.{ChildShard, SequenceNumber, ShardId, StreamShard}
import org.sparkkinesis.plan.offset.ShardPosition
import org.sparkkinesis.plan.realtime.LiveShard
import org.sparkkinesis.service.ServiceException
import org.sparkkinesis.suite.TimedSuite

class LiveFeedSuite extends TimedSuite {
  private val Seq(a, b) = Seq(0L, 1L).map(i => StreamShard("orders", ShardId.ofIndex(i))): @unchecked
  private def feed(epoch: Long) = new LiveFeed(epoch, SystemClock, BlockingWait)

  private class Told extends ProgressListener {
    val chunks = mutable.ArrayBuffer.empty[StreamShard]
    val others = mutable.ArrayBuffer.empty[StreamShard]
    override def onChunks(shard: StreamShard, epoch: Long, all: Seq[ChunkSummary]): Unit = chunks += shard
    override def onReadUpTo(shard: StreamShard, epoch: Long, millis: Long, behind: Long, had: Boolean): Unit = others +=
      shard
    override def onShardEnd(shard: StreamShard, epoch: Long, children: Seq[ChildShard]): Unit = others += shard
    override def onFailure(shard: StreamShard, epoch: Long, error: ServiceException): Unit = others += shard
  }

  private val summary = Seq(ChunkSummary(SequenceNumber("1"), 1, 1, 0, 0, 0, 0))

  test("each shard with news is taken once, in the order of its news") {
    val news = feed(1)
    Seq(b, a, b).foreach(news.tell)
    assert(Seq.fill(3)(news.take(0)) == Seq(Some(b), Some(a), None))
    news.tell(b)
    assert(news.take(0).contains(b))
  }

  test("a task that waits is woken by news, and by a failure") {
    val news = feed(1)
    val taken = mutable.ArrayBuffer.empty[Any]
    val task = new Thread(() =>
      try while (true) taken += news.take(600000).get
      catch { case ended: LiveFeedFailed => taken += ended.getCause.getMessage }
    )
    task.start()
    news.tell(a)
    while (taken.synchronized(taken.isEmpty)) Thread.onSpinWait()
    news.fail(new IllegalStateException("over"))
    task.join()
    assert(taken == Seq(a, "over"))
    assert(!news.isOpen)
  }

  private def open(live: LiveFeeds, feed: LiveFeed, shards: StreamShard*): Unit = open(live, feed, shards, false)
  private def open(live: LiveFeeds, feed: LiveFeed, shards: Seq[StreamShard], areChildren: Boolean): Unit =
    live.open(feed, shards.map(LiveShard(_, "orders", ShardPosition.Horizon, None)), areChildren)

  test("two tasks of a batch find the same child only if the stream was recreated") {
    val live = new LiveFeeds(new Told)
    val (first, second) = (feed(1), feed(2))
    open(live, first, Seq(a), areChildren = true)
    open(live, second, Seq(a), areChildren = true)
    val error = intercept[LiveFeedFailed](first.take(0)).getCause.asInstanceOf[KinesisConnectorException]
    assert(error.condition == "KINESIS_REAL_TIME_STREAM_RECREATED" && error.parameters == Map("stream" -> "orders"))
    assert(second.isOpen)
  }

  test("a newer task takes shards from an older one, which fails") {
    val live = new LiveFeeds(new Told)
    val (older, newer) = (feed(1), feed(2))
    open(live, older, a, b)
    open(live, newer, b)
    val error = intercept[LiveFeedFailed](older.take(0))
    assert(error.getMessage.contains(b.toString))
    live.onChunks(b, 2, summary)
    assert(newer.take(0).contains(b))
  }

  test("of the chunks of a shard with a task, the first is reported; its ends and its lag are") {
    val told = new Told
    val live = new LiveFeeds(told)
    val task = feed(1)
    open(live, task, a)
    Seq(a, b).foreach(live.onChunks(_, 1, summary))
    assert(told.chunks == Seq(a, b))
    Seq(a, b).foreach(live.onChunks(_, 1, summary))
    assert(told.chunks == Seq(a, b, b))
    open(live, task, a)
    live.onChunks(a, 1, summary)
    assert(told.chunks == Seq(a, b, b, a))
    live.onReadUpTo(a, 1, 5, 0, hadRecords = false)
    live.onShardEnd(a, 1, Nil)
    assert(told.others == Seq(a, a))
    assert(task.take(0).contains(a))
  }

  test("the shards of a task that has ended are forgotten, unless another task reads them") {
    val live = new LiveFeeds(new Told)
    val (ended, next) = (feed(1), feed(2))
    open(live, ended, a, b)
    ended.close()
    assert(!live.isRead(a))
    open(live, next, b)
    assert(ended.isOpen == false && live.isRead(b))
    assert(live.forget(ended) == Seq(a))
    assert(live.forget(ended) == Nil && live.isRead(b))
  }
}
