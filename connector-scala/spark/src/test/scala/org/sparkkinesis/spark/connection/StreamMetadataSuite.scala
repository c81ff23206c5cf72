package org.sparkkinesis.spark.connection

import scala.concurrent.duration._

import org.sparkkinesis.aws.client.{ClientSettings, CredentialSettings}
import org.sparkkinesis.concurrent.{CallPacer, VirtualScheduler}
import org.sparkkinesis.config.Options
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.event.ListingIncomplete
import org.sparkkinesis.model.{KinesisQuotas, Shard, StreamRef, StreamStatus}
import org.sparkkinesis.retry.{RetryPolicies, RetryRules}
import org.sparkkinesis.service._
import org.sparkkinesis.spark.connection.FakeDirectory.shards
import org.sparkkinesis.suite.TimedSuite

class StreamMetadataSuite extends TimedSuite {
  private val orders = StreamRef.ByName("orders")

  final private class Rig(options: (String, String)*) {
    val time = new VirtualScheduler
    val service = new FakeDirectory(time)
    val environment = new VirtualEnvironment(time, service)
    val clock = new ServiceClock(time)
    val metadata = new StreamMetadata(
      ClientSettings.of(Some("us-east-1"), None, CredentialSettings.DefaultChain),
      RetryPolicies.of(Options.read(options.toMap)),
      RetryRules.Default,
      clock,
      environment = environment
    )
    def calls(operation: Operation): Int = service.callsOf(operation).size
    def condition(body: => Any): String = intercept[KinesisConnectorException](body).condition
    def passed: FiniteDuration = time.nanoTime.nanos
  }

  test("an ACTIVE or UPDATING stream is described with the service's values") {
    Seq(StreamStatus.Active, StreamStatus.Updating).foreach { status =>
      val rig = new Rig
      rig.service.add("orders", status)
      assert(rig.metadata.describe(orders) == rig.service.streams("orders"))
    }
  }

  test("an interrupt, by which Spark stops a query, is not reported as a failure of the service") {
    val interrupt = new InterruptedException
    val failure = new ServiceException(
      ServiceErrorKind.Client,
      Operation.DescribeStreamSummary,
      "SdkClientException",
      "interrupted",
      None,
      new RuntimeException(interrupt)
    )
    val settings = ClientSettings.of(Some("us-east-1"), None, CredentialSettings.DefaultChain)
    assert(intercept[InterruptedException](ServiceFailure.explain(failure, "orders", settings)) eq interrupt)
  }

  test("200 queries that start at once in one process stay within the quota of DescribeStreamSummary") {
    val time = new VirtualScheduler
    val service = new FakeDirectory(time)
    service.add("orders")
    val settings = ClientSettings.of(Some("us-east-1"), None, CredentialSettings.DefaultChain)
    def start(environment: Environment): Unit = new StreamMetadata(
      settings,
      RetryPolicies.of(Options.defaults),
      RetryRules.Default,
      new ServiceClock(time),
      environment = environment
    ).describe(orders): Unit
    val shared = new VirtualEnvironment(time, service) {
      override val descriptions: Option[CallPacer[Environment.Caller]] = Some(Environment.paced())
    }
    (1 to 200).foreach(_ => start(shared))
    val calls = service.callsOf(Operation.DescribeStreamSummary)
    val quota = KinesisQuotas.CallRate.DescribeStreamSummaryPerAccount
    val tooFast = calls.zip(calls.drop(quota)).count { case (one, later) => (later - one).nanos < 1.second }
    assert(calls.size == 200 && tooFast == 0, s"$tooFast calls exceed the quota")
    assert(time.nanoTime.nanos < 20.seconds)
  }

  test("a stream in any other status is an error") {
    Seq(StreamStatus.Creating, StreamStatus.Deleting, StreamStatus.Other("ARCHIVED")).foreach { status =>
      val rig = new Rig
      rig.service.add("orders", status)
      val error = intercept[KinesisConnectorException](rig.metadata.describe(orders))
      assert(error.condition == "KINESIS_STREAM_UNUSABLE")
      assert(error.parameters == Map("stream" -> "orders", "status" -> status.name))
    }
  }

  test("an error that no retry can solve is thrown at once, with its condition") {
    val table = Seq(
      ServiceErrorKind.ResourceNotFound -> "KINESIS_STREAM_NOT_FOUND",
      ServiceErrorKind.AccessDenied -> "KINESIS_ACCESS_DENIED",
      ServiceErrorKind.InvalidArgument -> "KINESIS_SERVICE_FAILED"
    )
    table.foreach { case (kind, condition) =>
      val rig = new Rig
      rig.service.add("orders")
      rig.service.fail(Operation.DescribeStreamSummary, kind)
      assert(rig.condition(rig.metadata.describe(orders)) == condition)
      assert(rig.calls(Operation.DescribeStreamSummary) == 1, kind)
    }
  }

  test("a failing call is retried; after five retries it is an unreachable endpoint") {
    val passing = new Rig
    passing.service.add("orders")
    passing.service.fail(Operation.DescribeStreamSummary, Seq.fill(5)(ServiceErrorKind.Network): _*)
    assert(passing.metadata.describe(orders).name == "orders")
    val lasting = new Rig
    lasting.service.add("orders")
    lasting.service.fail(Operation.DescribeStreamSummary, Seq.fill(6)(ServiceErrorKind.Network): _*)
    assert(lasting.condition(lasting.metadata.describe(orders)) == "KINESIS_ENDPOINT_UNREACHABLE")
    assert(lasting.calls(Operation.DescribeStreamSummary) == 6)
  }

  test("throttling ends no start, however long it lasts, unless an option limits the retries") {
    val kinds = Seq(ServiceErrorKind.LimitExceeded, ServiceErrorKind.Throttled)
    for (kind <- kinds; failures <- Seq(40, 1000)) {
      val rig = new Rig
      rig.service.add("orders")
      rig.service.fail(Operation.DescribeStreamSummary, Seq.fill(failures)(kind): _*)
      assert(rig.metadata.describe(orders).name == "orders")
      if (failures == 1000) assert(rig.passed > 10.minutes)
    }
    val limited = new Rig("retry.describeStreamSummary.maxRetries" -> "2")
    limited.service.add("orders")
    limited.service.fail(Operation.DescribeStreamSummary, Seq.fill(40)(ServiceErrorKind.LimitExceeded): _*)
    intercept[KinesisConnectorException](limited.metadata.describe(orders))
    assert(limited.calls(Operation.DescribeStreamSummary) == 3)
  }

  test("the retry options of ListStreams limit its retries and set their pauses") {
    val options = Seq("maxRetries" -> "2", "backoff.base" -> "40s", "backoff.max" -> "1m", "backoff.exponent" -> "2")
    val rig = new Rig(options.map { case (name, value) => s"retry.listStreams.$name" -> value }: _*)
    rig.service.fail(Operation.ListStreams, Seq.fill(10)(ServiceErrorKind.Network): _*)
    assert(rig.condition(rig.metadata.streamNames()) == "KINESIS_ENDPOINT_UNREACHABLE")
    val calls = rig.service.callsOf(Operation.ListStreams)
    val pauses = calls.zip(calls.drop(1)).map { case (before, after) => (after - before).nanos.toSeconds }
    assert(pauses == Seq(40L, 60L))
  }

  test("a call without an answer fails after five minutes") {
    val rig = new Rig
    rig.service.isSilent = true
    assert(rig.condition(rig.metadata.describe(orders)) == "KINESIS_ENDPOINT_UNREACHABLE")
    assert(rig.passed == 5.minutes)
  }

  test("the answers of descriptions and listings tell the service's time") {
    Seq[Rig => Any](
      _.metadata.describe(orders),
      _.metadata.probe(orders),
      _.metadata.shards(orders, ShardFilter.AtLatest)
    ).zipWithIndex.foreach { case (call, index) =>
      val rig = new Rig
      val ahead = 3.hours.toMillis
      rig.service.add("orders")
      rig.service.streams("orders") =
        rig.service.streams("orders").copy(answeredMillis = Some(rig.time.currentMillis + ahead))
      rig.service.listings += ShardPage(shards(1), None, Some(rig.time.currentMillis + ahead))
      call(rig)
      val difference = rig.clock.atLeast - rig.time.currentMillis
      assert(ahead - difference < 1000 && difference <= ahead, index)
    }
  }

  test("a call is repeated if the machine was suspended before its answer arrived") {
    Seq[(Operation, Rig => Any)](
      Operation.DescribeStreamSummary -> (_.metadata.describe(orders)),
      Operation.DescribeStreamSummary -> (_.metadata.probe(orders)),
      Operation.ListShards -> (_.metadata.shards(orders, ShardFilter.AtLatest))
    ).zipWithIndex.foreach { case ((operation, call), index) =>
      val rig = new Rig
      def answer(shards: Seq[Shard]): Unit = {
        val now = Some(rig.time.currentMillis)
        rig.service.add("orders")
        rig.service.streams("orders") = rig.service.streams("orders").copy(answeredMillis = now)
        rig.service.listings.clear()
        rig.service.listings += ShardPage(shards, None, now)
      }
      answer(shards(1))
      rig.time.schedule(5.millis) {
        rig.time.suspend(14.hours)
        // The first answer is of a time before the suspension, and the second one is not.
        rig.time.schedule(10.millis)(answer(shards(2)))
      }
      val found = call(rig)
      assert(rig.calls(operation) == 2, index)
      assert(rig.clock.atMost - rig.clock.atLeast < 2000 && !rig.clock.isDoubtful, index)
      if (operation == Operation.ListShards) assert(found == shards(2))
    }
  }

  test("all pages of a listing are combined, with each shard once") {
    val rig = new Rig
    val all = shards(5)
    rig.service.listings ++= Seq(
      ShardPage(all.take(2), Some("second")),
      ShardPage(all.slice(1, 4), Some("third")),
      ShardPage(all.drop(4), None)
    )
    assert(rig.metadata.shards(orders, ShardFilter.AtLatest) == all)
    assert(rig.service.listed == Seq(None, Some("second"), Some("third")).map(ShardFilter.AtLatest -> _))
  }

  test("a listing whose token expires starts again") {
    val rig = new Rig
    val all = shards(3)
    rig.service.listings ++= Seq(ShardPage(all.take(1), Some("stale")), ShardPage(all, None))
    val filter = ShardFilter.FromTrimHorizon
    // The error is queued while the first page is on its way, so the second call fails.
    rig.time.schedule(5.millis)(rig.service.fail(Operation.ListShards, ServiceErrorKind.ExpiredNextToken))
    assert(rig.metadata.shards(orders, filter) == all)
    assert(rig.service.listed.map(_._2) == Seq(None, Some("stale"), None))
  }

  test("an expired token on the first page is an error") {
    val rig = new Rig
    rig.service.listings += ShardPage(shards(1), None)
    rig.service.fail(Operation.ListShards, ServiceErrorKind.ExpiredNextToken)
    assert(rig.condition(rig.metadata.shards(orders, ShardFilter.FromTrimHorizon)) == "KINESIS_SERVICE_FAILED")
  }

  test("listing waits for the end of an outage without a limit") {
    val rig = new Rig
    rig.service.listings += ShardPage(shards(2), None)
    rig.service.fail(Operation.ListShards, Seq.fill(500)(ServiceErrorKind.Network): _*)
    assert(rig.metadata.shards(orders, ShardFilter.FromTrimHorizon) == shards(2))
    assert(rig.calls(Operation.ListShards) == 501)
    assert(rig.passed > 20.minutes)
  }

  test("a listing that lacks a shard is repeated after a pause until it is complete") {
    val rig = new Rig
    val hole = ShardPage(shards(3, only = 0 to 1), None)
    rig.service.listings ++= Seq(hole, hole, ShardPage(shards(3), None))
    assert(rig.metadata.allShards(orders, ShardFilter.FromTrimHorizon, failOnDataLoss = true) == shards(3))
    assert(rig.calls(Operation.ListShards) == 3)
    val policy = RetryPolicies.of(Options.defaults)(Operation.ListShards)
    assert(rig.passed >= policy.bound(1) + policy.bound(2))
  }

  test("a shard missing from ten listings is an error with the missing hash keys, or is skipped if loss is allowed") {
    val strict = new Rig
    strict.service.listings += ShardPage(shards(2, only = 0 to 0), None)
    def allOf(rig: Rig, failOnDataLoss: Boolean) =
      rig.metadata.allShards(orders, ShardFilter.FromTrimHorizon, failOnDataLoss)
    val error = intercept[KinesisConnectorException](allOf(strict, failOnDataLoss = true))
    assert(error.condition == "KINESIS_LISTING_INCOMPLETE")
    val gap = shards(2).last.hashKeyRange
    assert(error.parameters("from") == gap.start.toString && error.parameters("to") == gap.end.toString)
    assert(strict.calls(Operation.ListShards) == 10)

    val lenient = new Rig
    lenient.service.listings += ShardPage(shards(2, only = 0 to 0), None)
    assert(allOf(lenient, failOnDataLoss = false) == shards(2, only = 0 to 0))
    assert(lenient.calls(Operation.ListShards) == 10)
    assert(lenient.environment.recorded.of[ListingIncomplete] ==
      Vector(ListingIncomplete("orders", gap.start, gap.end, 10)))
  }

  test("stream names are listed page by page, each page after the last name of the previous one") {
    val rig = new Rig
    rig.service.names ++= Seq(
      StreamNamePage(Seq("a", "b"), hasMore = true),
      StreamNamePage(Seq("c"), hasMore = true),
      StreamNamePage(Nil, hasMore = true)
    )
    assert(rig.metadata.streamNames() == Seq("a", "b", "c"))
    assert(rig.service.asked == Seq(None, Some("b"), Some("c")))
  }

  test("closing releases the client and the threads") {
    val rig = new Rig
    assert(rig.environment.open == 2)
    rig.metadata.close()
    assert(rig.environment.open == 0)
  }
}
