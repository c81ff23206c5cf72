package org.sparkkinesis.aws.reading

import java.util.concurrent.Executors

import scala.concurrent.duration._
import scala.concurrent.{ExecutionContext, Future}
import scala.jdk.CollectionConverters._

import org.sparkkinesis.aws.client.{SdkClients, WithEmulator}
import org.sparkkinesis.chunk.DecodeSettings
import org.sparkkinesis.concurrent.SystemScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.fanout._
import org.sparkkinesis.consume.poll.{PollingPublisherFactory, PollingSettings}
import org.sparkkinesis.consume.{PrefetchBuffer, RecordPublisherFactory, ShardConsumers}
import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}
import org.sparkkinesis.event.ConsumerMetrics
import org.sparkkinesis.model.StartingPosition._
import org.sparkkinesis.model.{StreamShard, _}
import org.sparkkinesis.retry.{RetryPolicies, RetryRules}

/** Despite faults, every record is read once and in order. */
class ReadingThroughFaultsSuite extends WithEmulator {
  private val Shards = 4
  private val InternalFailure = FaultEffect.Error(500, "InternalFailure", "by request")
  private def refused(error: String) = FaultEffect.Error(400, error, "by request")

  private val polling: Seq[(String, FaultRule)] = Seq(
    "throttled calls" -> FaultRule(refused("ProvisionedThroughputExceededException"), "GetRecords", probability = 0.3),
    "internal failures" -> FaultRule(InternalFailure, "GetRecords", probability = 0.3),
    "an unavailable service" ->
      FaultRule(FaultEffect.Error(503, "ServiceUnavailable", "by request"), probability = 0.3),
    "throttled iterators" ->
      FaultRule(refused("ProvisionedThroughputExceededException"), "GetShardIterator", count = 3),
    "expired iterators" -> FaultRule(refused("ExpiredIteratorException"), "GetRecords", probability = 0.2),
    "rejected iterators" -> FaultRule(refused("InvalidArgumentException"), "GetRecords", count = 3),
    "cut connections" -> FaultRule(FaultEffect.Cut(done = false), "GetRecords", probability = 0.2),
    "connections cut after the call succeeded" ->
      FaultRule(FaultEffect.Cut(done = true), "GetRecords", probability = 0.2),
    "late responses" -> FaultRule(FaultEffect.LateAnswer(300), "GetRecords", probability = 0.2),
    "calls without a response" -> FaultRule(FaultEffect.Silence, "GetRecords", probability = 0.05),
    "an outage of all operations" -> FaultRule(FaultEffect.Cut(done = false), count = 30)
  )

  private val fanOut: Seq[(String, FaultRule)] = Seq(
    "subscriptions that end early" -> FaultRule(FaultEffect.EndAfter(2), "SubscribeToShard", count = 3),
    "subscriptions that end immediately" -> FaultRule(FaultEffect.EndAfter(0), "SubscribeToShard", count = 3),
    "failures in the event stream" ->
      FaultRule(FaultEffect.FailAfter(2, InternalFailure), "SubscribeToShard", count = 3),
    "takeovers reported in the event stream" ->
      FaultRule(FaultEffect.FailAfter(2, refused("ResourceInUseException")), "SubscribeToShard", count = 3),
    "silent subscriptions" -> FaultRule(FaultEffect.Mute, "SubscribeToShard", count = 2),
    "calls without a response" -> FaultRule(FaultEffect.Silence, "SubscribeToShard", count = 2),
    "events sent twice" -> FaultRule(FaultEffect.DuplicateEvents, "SubscribeToShard"),
    "reset streams" -> FaultRule(FaultEffect.ResetAfter(2), "SubscribeToShard", count = 3),
    "streams reset before a response" -> FaultRule(FaultEffect.ResetStream, "SubscribeToShard", count = 3),
    "connections closed with GOAWAY" -> FaultRule(FaultEffect.GoAway, "SubscribeToShard", count = 3),
    "cut connections" -> FaultRule(FaultEffect.Cut(done = false), "SubscribeToShard", count = 2),
    "too many calls" -> FaultRule(refused("LimitExceededException"), "SubscribeToShard", count = 6),
    "an outage of fifteen seconds" ->
      FaultRule(FaultEffect.Error(503, "ServiceUnavailable", "by request"), "SubscribeToShard", forMillis = 15000),
    "a consumer that is in use" -> FaultRule(refused("ResourceInUseException"), "SubscribeToShard", count = 4)
  )

  /** All cases run concurrently, each with its own stream, because they spend most of their time in pauses. */
  private lazy val threads = Executors.newCachedThreadPool()
  private lazy val running: Map[String, Future[Unit]] = {
    implicit val context: ExecutionContext = ExecutionContext.fromExecutor(threads)
    (polling.map { case (what, rule) => s"polling reads all records once despite $what" -> Future(poll(what, rule)) } ++
      fanOut.map { case (what, rule) =>
        s"fan-out reads all records once despite $what" -> Future(subscribe(what, rule))
      }).toMap
  }
  for (
    name <- polling.map(c => s"polling reads all records once despite ${c._1}") ++
      fanOut.map(c => s"fan-out reads all records once despite ${c._1}")
  )
    test(name)(running(name))

  override protected def timeLimit: FiniteDuration = 3.minutes

  private def poll(what: String, rule: FaultRule): Unit = {
    val metrics = new ConsumerMetrics
    readThrough(s"poll-${what.hashCode.toHexString}", rule, metrics) { (_, scheduler) =>
      val settings = PollingSettings.of(Options.defaults).copy(
        maxRecordsPerFetch = 20,
        minFetchPeriod = 20.millis,
        maxFetchesPerSecond = 100
      )
      new PollingPublisherFactory(
        _ => impatient,
        settings,
        RetryPolicies.of(Options.defaults),
        RetryRules.Default,
        scheduler,
        metrics
      )
    }
  }

  private def subscribe(what: String, rule: FaultRule): Unit = {
    val metrics = new ConsumerMetrics
    readThrough(s"efo-${what.hashCode.toHexString}", rule, metrics) { (arn, scheduler) =>
      val consumer = await(new StreamConsumerRegistrar(
        service,
        scheduler,
        RetryPolicies.of(Options.defaults),
        RetryRules.Default
      ).ensure(arn, "test"))
      val settings = FanOutSettings.Standard.copy(silenceTimeout = 7.seconds)
      new FanOutPublisherFactory(
        _ => service,
        _ => consumer,
        settings,
        RetryPolicies.of(Options.defaults),
        RetryRules.Default,
        scheduler,
        metrics
      )
    }
  }

  /** A client with a request timeout of one second. */
  private lazy val impatient =
    SdkClients.create(settings.copy(network = settings.network.copy(requestTimeout = 1.second)))
  override def afterAll(): Unit = {
    threads.shutdown()
    impatient.close()
    super.afterAll()
  }

  private def readThrough(stream: String, rule: FaultRule, metrics: ConsumerMetrics)(
      publishers: (String, SystemScheduler) => RecordPublisherFactory
  ): Unit = {
    val arn = emulator.admin.createStream(stream, Shards)
    val scheduler = new SystemScheduler("faults", 2)
    val listener = new RecordingListener
    val consumers =
      new ShardConsumers(
        publishers(arn, scheduler),
        new PrefetchBuffer(64L << 20),
        DecodeSettings.of(Options.defaults),
        listener,
        metrics
      )
    val shards = (0 until Shards).map(i => StreamShard(arn, ShardId.ofIndex(i.toLong)))
    def rows = shards.map(listener.rows).sum
    val texts = (1 to 600).map(_.toString)
    var fault = Option.empty[Int]
    // A rule with a time limit is removed, and its count with it.
    def faultCame = fault.exists(emulator.faults.hits(_) > 0) || metrics.retries.sum > 0
    try {
      put(stream, texts.take(300))
      fault = Some(emulator.faults.add(rule.copy(stream = stream)))
      shards.foreach(consumers.start(_, TrimHorizon, 1))
      // Several puts, so that there are several responses and events.
      texts.drop(300).grouped(30).foreach { piece =>
        // Waits for a random fault before the last records are put.
        if (piece.last == texts.last) listener.awaitUntil("the fault did not occur")(faultCame)
        put(stream, piece)
        val expected = piece.last.toInt
        listener.awaitUntil(s"$rows of $expected rows, ${metrics.snapshot}", seconds = 150)(rows >= expected)
      }
      shards.foreach { shard =>
        val read = listener.chunks.asScala.get(shard).toSeq.flatMap(told =>
          Rows.held(consumers.read(shard, TrimHorizon, told.last.last).get)
        )
        assert(
          read ==
            emulator.admin.records(stream, shard.shard.value).map(record => new String(record.data, "UTF-8")).toSeq
        )
      }
      assert(rows == texts.size)
    } finally {
      fault.foreach(emulator.faults.remove)
      consumers.stopAll()
      scheduler.close()
    }
  }
}
