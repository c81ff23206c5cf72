package org.sparkkinesis.sink.kinesis

import org.scalacheck.Gen

import org.sparkkinesis.model._
import org.sparkkinesis.service.{Operation, PutEntry, PutResult, ServiceErrorKind, ServiceException}
import org.sparkkinesis.shard.ShardMap
import org.sparkkinesis.sink.RetryCause._
import org.sparkkinesis.sink.Verdict
import org.sparkkinesis.suite.PropertySuite

/** What is pure: record rules, the shard map, verdicts, cost. */
class SinkTablesSuite extends PropertySuite {
  private def record(key: String, bytes: Int = 1, hash: Option[String] = None) =
    new SinkRecord(key, hash, new Array[Byte](bytes))

  test("a record is checked for its key, its explicit hash key and its size with the key") {
    val rules = RecordRules(1000)
    val cases = Seq[(SinkRecord, Option[String])](
      record("a") -> None,
      record("k" * 256) -> None,
      record("é" * 256, 488) -> None,
      record("é" * 256, 489) -> Some("1001 bytes"),
      record("𝄞" * 128) -> None,
      record("") -> Some("partition key is empty"),
      record("k" * 257) -> Some("257 characters"),
      record("a", 999) -> None,
      record("a", 1000) -> Some("1001 bytes with its partition key, the stream takes 1000"),
      record("a", hash = Some("0")) -> None,
      record("a", hash = Some("340282366920938463463374607431768211455")) -> None,
      record("a", hash = Some("340282366920938463463374607431768211456")) -> Some("explicit hash key"),
      record("a", hash = Some("007")) -> Some("explicit hash key"),
      record("a", hash = Some("x")) -> Some("explicit hash key")
    )
    cases.foreach { case (given, expected) =>
      val found = rules.violation(given)
      assert(
        found.isDefined == expected.isDefined && expected.forall(text => found.exists(_.contains(text))),
        s"expected $expected, found $found"
      )
    }
  }

  private val keys: Gen[String] = Gen.alphaNumStr.suchThat(_.nonEmpty)

  test("a hash point is the service's hash key, and the map finds the shard whose range has it") {
    forAll(keys, Gen.choose(1, 40)) { (key, count) =>
      val shards = HashKeyRange.uniform(count).zipWithIndex.map { case (range, i) =>
        Shard(ShardId.ofIndex(i.toLong), None, None, range, SequenceNumber("1"), None)
      }
      val map = ShardMap.of(scala.util.Random.shuffle(shards)).get
      val point = record(key).hashPoint
      assert(point.toBigInt == HashKey.ofPartitionKey(key))
      assert(map.shardOf(point) == shards.find(_.hashKeyRange.contains(point.toBigInt)).get.id)
    }
  }

  test("the map leaves closed shards out, and there is none without an open shard") {
    val closed =
      Shard(ShardId.ofIndex(0), None, None, HashKeyRange.Whole, SequenceNumber("1"), Some(SequenceNumber("2")))
    assert(ShardMap.of(Seq(closed)).map(_.size) == None)
  }

  test("answers of PutRecords are accepted, sent again, or final") {
    def rejected(code: String) = PutVerdicts.of(PutResult.Rejected(code, "why"))
    def failed(kind: ServiceErrorKind) = PutVerdicts.of(new ServiceException(kind, Operation.PutRecords, "Code", "why"))
    def cause(verdict: Verdict) = verdict match {
      case Verdict.Retry(cause, _) => cause.toString
      case other => other.getClass.getSimpleName.stripSuffix("$")
    }
    val cases = Seq(
      PutVerdicts.of(PutResult.Accepted(ShardId.ofIndex(0), SequenceNumber("1"))) -> "Accepted",
      rejected("ProvisionedThroughputExceededException") -> Throttled.toString,
      rejected("KMSThrottlingException") -> Throttled.toString,
      rejected("InternalFailure") -> Failed.toString,
      rejected("SomethingNew") -> Failed.toString,
      rejected("KMSDisabledException") -> "Fatal",
      rejected("AccessDeniedException") -> "Fatal",
      failed(ServiceErrorKind.Throttled) -> Throttled.toString,
      failed(ServiceErrorKind.LimitExceeded) -> Throttled.toString,
      failed(ServiceErrorKind.ResourceInUse) -> Failed.toString,
      failed(ServiceErrorKind.Internal) -> Unanswered.toString,
      failed(ServiceErrorKind.Network) -> Unanswered.toString,
      failed(ServiceErrorKind.ResourceNotFound) -> "Fatal",
      failed(ServiceErrorKind.InvalidArgument) -> "Fatal",
      failed(ServiceErrorKind.AccessDenied) -> "Fatal",
      failed(ServiceErrorKind.Encryption) -> "Fatal",
      failed(ServiceErrorKind.Client) -> "Fatal"
    )
    cases.foreach { case (verdict, expected) => assert(cause(verdict) == expected) }
  }

  test("payload units are chunks of 25 KB begun, for each stored record") {
    val counts = new PutCounts
    val sizes = Seq(1, 25 * 1024 - 1, 25 * 1024, 60 * 1024)
    val entries = sizes.map(size => PutEntry("k", None, new Array[Byte](size)))
    val accepted = PutResult.Accepted(ShardId.ofIndex(0), SequenceNumber("1"))
    counts.answered(entries, entries.map(_ => accepted))
    counts.answered(entries, entries.map(_ => PutResult.Rejected("InternalFailure", "")))
    assert((counts.records, counts.payloadUnits) == (4L, 1L + 1L + 2L + 3L))
  }
}
