package org.sparkkinesis.firehose

import org.sparkkinesis.aws.client.{ClientSettings, CredentialSettings}
import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.event.{RecordedEvents, WriteLimitChanged}
import org.sparkkinesis.sink.limit.RequestOutcome
import org.sparkkinesis.spark.sink.DataColumn
import org.sparkkinesis.spark.sink.invalid.OnInvalidRow
import org.sparkkinesis.suite.TimedSuite

class FirehoseLimitsSuite extends TimedSuite {
  private val base = CredentialSettings.DefaultChain
  private def role(account: Int): CredentialSettings =
    CredentialSettings.AssumeRole(f"arn:aws:iam::$account%012d:role/writer", "s", None, None, base)

  private def plan(credentials: CredentialSettings, region: String = "us-east-1"): FirehosePlan = FirehosePlan(
    DataColumn(0, isText = false),
    "archive",
    OnInvalidRow.Fail,
    ClientSettings.of(Some(region), None, credentials),
    FirehoseSinkSettings.of(Options.read(Map("rateLimiting" -> "aimd"))),
    "query",
    QueryContext.Unknown
  )

  test("writers share the limits of a delivery stream only with the same credentials and region") {
    val (time, limits) = (new VirtualScheduler, new FirehoseLimits)
    def limit(plan: FirehosePlan) = limits.acquire(plan, 1, new RecordedEvents, time)
    val one = limit(plan(role(1)))
    assert(limit(plan(role(1))) eq one)
    val others = Seq(plan(role(2)), plan(base), plan(role(1), region = "eu-west-1"))
    assert((others.map(limit) :+ one).distinct.size == 4)
  }

  test("a change of the limit is reported to the queries that use it") {
    val (time, limits) = (new VirtualScheduler, new FirehoseLimits)
    val (events, ended) = (new RecordedEvents, new RecordedEvents)
    val limit = limits.acquire(plan(base), 1, events, time)
    limits.acquire(plan(base), 1, ended, time)
    limits.release(plan(base), ended, time)
    val writer = limit.strategy.open()
    writer.acquire(500, 0)
    writer.settled(RequestOutcome(500, 500, 1, 0), 0)
    assert(events.all.isEmpty, "a writer holds its lock")
    limit.report()
    assert(events.of[WriteLimitChanged] == Vector(WriteLimitChanged("archive", 500, 495)))
    assert(ended.all.isEmpty)
  }
}
