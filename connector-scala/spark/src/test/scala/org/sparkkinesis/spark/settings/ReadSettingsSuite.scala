package org.sparkkinesis.spark.settings

import scala.concurrent.duration._

import org.sparkkinesis.aws.client.{ClientSettings, CredentialSettings}
import org.sparkkinesis.chunk.DecodeSettings
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.poll.PollingSettings
import org.sparkkinesis.service.Operation
import org.sparkkinesis.suite.TimedSuite

class ReadSettingsSuite extends TimedSuite {
  private def settings(set: (String, String)*) =
    ReadSettings(
      Options.read(Map("streamName" -> "orders") ++ set),
      Map("arn" -> ClientSettings.of(Some("us-east-1"), None, CredentialSettings.DefaultChain))
    )

  test("without options the service's limits apply and data loss is an error") {
    val standard = settings()
    assert(standard.polling.maxFetchesPerSecond == PollingSettings.of(Options.defaults).maxFetchesPerSecond)
    assert(standard.polling.readBytesPerSecond == PollingSettings.of(Options.defaults).readBytesPerSecond)
    assert(standard.decode.maxChunkRows == DecodeSettings.MaxRows)
    assert(standard.bufferBytes == None)
    assert(standard.failOnDataLoss)
  }

  test("a higher call rate raises the byte rate in proportion; a lower call rate does not reduce it") {
    val service = PollingSettings.of(Options.defaults)
    def bytes(calls: Double) = settings("maxFetchesPerSecond" -> calls.toString).polling.readBytesPerSecond
    assert(bytes(service.maxFetchesPerSecond * 4) == service.readBytesPerSecond * 4)
    assert(bytes(service.maxFetchesPerSecond / 5) == service.readBytesPerSecond)
  }

  // The row limit of a batch, and the maximum rows per chunk.
  Seq("1" -> 1, "15" -> 1, "16" -> 1, "160" -> 10, "100000000" -> DecodeSettings.MaxRows).foreach {
    case (limit, rows) =>
      test(s"with at most $limit records per batch, a chunk has at most $rows rows") {
        assert(settings("maxRecordsPerTrigger" -> limit).decode.maxChunkRows == rows)
      }
  }

  test("a stream that joins has its own region, endpoint and role, with the credentials of the query") {
    val own = CredentialSettings.Static("id", "secret", None)
    val base = ClientSettings.of(
      Some("us-east-1"),
      Some("http://127.0.0.1:1"),
      CredentialSettings.AssumeRole("arn:aws:iam::111111111111:role/query", "s", None, None, own)
    )
    val role = StreamConnection.Role(Seq("arn:aws:iam::222222222222:role/stream"), "s", Some("external"), None)
    val joined = settings().copy(joining = Some(base), fanOut = Some(Map.empty)).withStreams(Map(
      "a" -> StreamConnection("eu-west-1", None, None, Some("consumer")),
      "b" -> StreamConnection("us-west-2", Some("https://x"), Some(role), None)
    ))
    assert(joined.client("a") == base.copy(region = Some("eu-west-1")))
    assert(joined.client("b").endpoint.contains("https://x") && joined.client("b").region.contains("us-west-2"))
    assert(joined.client("b").credentials ==
      CredentialSettings.AssumeRole(role.arns.head, "s", Some("external"), None, own))
    assert(joined.fanOut.contains(Map("a" -> "consumer")))
    assert(!role.toString.contains("external"))
  }

  test("a byte limit of batches also limits the size of chunks") {
    assert(settings("maxBytesPerTrigger" -> "16k").decode.maxChunkBytes == 1024)
  }

  test("retry options set unlimited and limited retries") {
    val policies = settings("retry.getRecords.maxRetries" -> "-1", "retry.listShards.maxRetries" -> "3").retries
    assert(policies(Operation.GetRecords).maxRetries == None)
    assert(policies(Operation.ListShards).maxRetries == Some(3))
  }

  test("a maximum pause below the base pause is raised to the base pause") {
    val policy =
      settings(
        "retry.getRecords.backoff.base" -> "5s",
        "retry.getRecords.backoff.max" -> "1s"
      ).retries(Operation.GetRecords)
    assert((policy.base, policy.max) == (5.seconds, 5.seconds))
  }

  test("toString contains no secret") {
    val secret = CredentialSettings.Static("AK", "hidden-secret", Some("hidden-token"))
    val text = ReadSettings(Options.read(Map.empty), Map("arn" -> ClientSettings.of(None, None, secret))).toString
    assert(!text.contains("hidden"), text)
  }
}
