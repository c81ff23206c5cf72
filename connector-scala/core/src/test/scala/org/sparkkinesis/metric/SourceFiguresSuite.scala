package org.sparkkinesis.metric

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.value.ConsumerMode
import org.sparkkinesis.event.{ConsumerHealth, OngoingOutage, ReadSummary, ThrottledCalls}
import org.sparkkinesis.model.{ShardId, StreamShard}
import org.sparkkinesis.service.Operation
import org.sparkkinesis.suite.TimedSuite

class SourceFiguresSuite extends TimedSuite {
  private val orders = "arn:aws:kinesis:us-east-1:123456789012:stream/orders"
  private val clicks = "arn:aws:kinesis:us-east-1:123456789012:stream/clicks"
  private def id(index: Int) = ShardId.ofIndex(index.toLong)
  private def behind(stream: String, index: Int, millis: Long) =
    ShardFigures(StreamShard(stream, id(index)), millis, Some("1"), rowsPerSecond = 10, bytesPerSecond = 1000)
  private def throttled(stream: String, index: Int, calls: Long) =
    ThrottledCalls(stream, Some(id(index)), Operation.GetRecords, calls)

  private val figures = SourceFigures(
    mode = ConsumerMode.Polling,
    shards = Seq(behind(orders, 0, 0), behind(orders, 1, 7200000), behind(clicks, 0, 5000)),
    openShards = Map(orders -> 2, clicks -> 1),
    fetchedMillisBehind = Map(orders -> 60000, clicks -> 0),
    retentionMillis = Map(orders -> 24.hours.toMillis, clicks -> 48.hours.toMillis),
    totals = Map("rows" -> 900, "bytes" -> 90000, "throttles" -> 9, "retries" -> 4, "bufferedBytes" -> 2048),
    shardsByExecutor = Map("1" -> 2, "2" -> 1),
    health = Map(
      "1" -> ConsumerHealth(1024, 1.5, Seq(throttled(orders, 1, 4)), Seq(OngoingOutage(orders, 1, 9000, "no answer"))),
      "2" -> ConsumerHealth(4096, 3.0, Seq(throttled(orders, 1, 3), throttled(clicks, 0, 2)))
    ),
    batch = Some(BatchFigures(number = 12, rows = 70, bytes = 700, isRunning = true, millis = 1500))
  )

  /** The question of an operator, its gauge, and the value for the figures above. */
  private val answers = Seq[(String, String, Double)](
    ("how long until unread records expire", "query.etl.stream.orders.expiresInMs", 22.hours.toMillis.toDouble),
    ("the same of a stream that is not far behind", "query.etl.stream.clicks.expiresInMs", 172795000.0),
    ("how far the query is behind", "query.etl.stream.orders.maxMsBehindLatest", 7200000),
    ("how far fetching is behind", "query.etl.stream.orders.maxFetchedMsBehindLatest", 60000),
    ("which shard is behind", "query.etl.stream.orders.shard.shardId-000000000001.msBehindLatest", 7200000),
    ("how fast it is read", "query.etl.stream.orders.shard.shardId-000000000001.rowsPerSecond", 10),
    ("rate of a stream", "query.etl.stream.orders.rowsPerSecond", 20),
    ("bytes of a stream", "query.etl.stream.clicks.bytesPerSecond", 1000),
    ("which stream is throttled", "query.etl.stream.orders.throttledCalls", 7),
    ("which shard is throttled", "query.etl.stream.orders.shard.shardId-000000000001.throttledCalls", 7),
    ("how much polling has slowed down", "query.etl.pollingSlowdown", 3),
    ("buffer used", "query.etl.bufferedBytes", 2048),
    ("size of the buffer", "query.etl.bufferBytes", 5120),
    ("open shards", "query.etl.stream.orders.openShards", 2),
    ("executors", "query.etl.executors", 2),
    ("how long a batch runs", "query.etl.runningBatchMs", 1500),
    ("size of the running batch", "query.etl.plannedRows", 70),
    ("batches", "query.etl.batches", 12),
    ("outage that only an executor sees", "query.etl.stream.orders.outageMs", 9000),
    ("rows since the start", "query.etl.rows", 900)
  )

  answers.foreach { case (question, path, value) =>
    test(s"a gauge shows: $question") {
      val found = Gauges.of("etl", figures).filter(_.path == path)
      assert(found.map(_.value) == Seq(value), found)
    }
  }

  test("every gauge has a name of its own, and a word in a name has no separators") {
    val paths = Gauges.of("my.query/1", figures).map(_.path)
    assert(paths.distinct == paths)
    assert(paths.forall(_.startsWith("query.my_query_1.")), paths)
  }

  test("at most five shards have gauges of their own, the worst first, and a shard at its tip has none") {
    val many = figures.copy(shards = (0 to 9).map(index => behind(orders, index, index * 1000L)), health = Map.empty)
    val shards = Gauges.of("etl", many).flatMap(_.labels.collect { case ("shard", shard) => shard }).distinct
    assert(shards == (9 to 5 by -1).map(id(_).value))
  }

  test("only the shards of fan-out are billed by the hour") {
    def billed(mode: ConsumerMode, isRealTime: Boolean) =
      Gauges.of("etl", figures.copy(mode = mode, isRealTime = isRealTime))
        .collect { case GaugeValue(_, "fanOutShards", shards) => shards }
    assert(billed(ConsumerMode.Polling, isRealTime = false) == Seq(0.0, 0.0))
    assert(billed(ConsumerMode.FanOut, isRealTime = false).toSet == Set(1.0, 2.0))
    assert(billed(ConsumerMode.FanOut, isRealTime = true).toSet == Set(1.0, 2.0))
    assert(figures.copy(mode = ConsumerMode.FanOut, isRealTime = true).modeText == "efo, real time")
  }

  test("a batch that does not run any more has no running time") {
    val ended = figures.copy(batch = figures.batch.map(_.copy(isRunning = false)))
    assert(Gauges.of("etl", ended).find(_.name == "runningBatchMs").map(_.value).contains(0.0))
  }

  test("the executor with the most throttled calls is named") {
    assert(figures.throttled.map(one => one.stream -> one.calls) == Seq(orders -> 7L, clicks -> 2L))
    assert(figures.throttled.map(figures.executorOf) == Seq(Some("1"), Some("2")))
  }

  test("a summary covers the time since the last one, and names the worst shard and what is throttled") {
    val before = figures.copy(
      totals = Map("rows" -> 600, "bytes" -> 60000, "throttles" -> 8, "retries" -> 4),
      batch = figures.batch.map(_.copy(number = 10))
    )
    assert(
      ReadSummaries.of(Some(before), figures, 300000) ==
        ReadSummary(
          batches = 2,
          rows = 300,
          bytes = 30000,
          millis = 300000,
          consumerMode = "polling",
          shards = 3,
          executors = 2,
          behindMillis = 7200000,
          worstShard = Some("orders shardId-000000000001"),
          expiresInMillis = Some(22.hours.toMillis),
          bufferedBytes = 2048,
          bufferBytes = 5120,
          pollingSlowdown = 3,
          throttled = 1,
          retried = 0,
          mostThrottled = Some("GetRecords of orders shardId-000000000001 on executor 1, 7 since the start"),
          runningMillis = Some(1500)
        )
    )
    val quiet = ReadSummaries.of(Some(figures), figures, 300000)
    assert(quiet.rows == 0 && quiet.mostThrottled.isEmpty, "nothing was throttled meanwhile")
  }

  test("a summary is due with the first batch, and then every five minutes, also while a batch runs") {
    val clock = new VirtualScheduler
    val summaries = new ReadSummaries(clock)
    def next(after: FiniteDuration, of: SourceFigures = figures): Option[Long] = {
      clock.advance(after)
      summaries.next(of).map(_.millis)
    }
    val noBatch = figures.copy(batch = None)
    assert(next(1.second, noBatch).isEmpty)
    assert(next(1.second).contains(2000L))
    assert(next(299.seconds).isEmpty)
    assert(next(1.second).contains(300000L))
    val idle = new ReadSummaries(clock)
    clock.advance(5.minutes)
    assert(idle.next(noBatch).map(_.batches).contains(0L), "a query without a batch says so as well")
  }
}
