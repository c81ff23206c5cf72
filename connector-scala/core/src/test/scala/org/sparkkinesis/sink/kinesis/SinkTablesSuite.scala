package org.sparkkinesis.sink.kinesis

import org.scalacheck.Gen

import org.sparkkinesis.model._
import org.sparkkinesis.model.hash.{HashKey, HashKeyRange}
import org.sparkkinesis.retry.RetryRules
import org.sparkkinesis.service.{Operation, PutEntry, PutResult, ServiceErrorKind, ServiceException}
import org.sparkkinesis.shard.ShardMap
import org.sparkkinesis.sink.RetryCause._
import org.sparkkinesis.sink.Verdict
import org.sparkkinesis.sink.kinesis.lane.ShardPrediction
import org.sparkkinesis.sink.kinesis.pack.{AggregatePacker, AggregateSize}
import org.sparkkinesis.sink.kinesis.put.{PutCounts, PutSize, RecordRules, SinkRecord}
import org.sparkkinesis.sink.put.PutVerdicts
import org.sparkkinesis.suite.PropertySuite

/** Tests the pure parts: record rules, shard map, verdicts and cost. */
class SinkTablesSuite extends PropertySuite {
  private def record(key: String, bytes: Int = 1, hash: Option[String] = None) =
    new SinkRecord(key, hash, new Array[Byte](bytes))

  test("a record is validated for key, explicit hash key and size with the key") {
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
      record("a", 1000) -> Some("1001 bytes with its partition key, the stream accepts 1000"),
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

  test("a hash point equals the hash key of the service, and the map finds the shard of its range") {
    forAll(keys, Gen.choose(1, 40)) { (key, count) =>
      val shards = HashKeyRange.uniform(count).zipWithIndex.map { case (range, i) =>
        Shard(ShardId.ofIndex(i.toLong), None, None, range, SequenceNumber("1"), None)
      }
      val map = ShardMap.of(scala.util.Random.shuffle(shards)).getOrElse(fail("no map"))
      val point = record(key).hashPoint
      assert(point.toBigInt == HashKey.ofPartitionKey(key))
      assert(map.shardOf(point) == shards.find(_.hashKeyRange.contains(point.toBigInt)).get.id)
    }
  }

  private def shard(index: Long, range: HashKeyRange, start: String = "1", end: Option[String] = None) =
    Shard(ShardId.ofIndex(index), None, None, range, SequenceNumber(start), end.map(SequenceNumber(_)))

  private val low = HashKeyRange.uniform(2)(0)
  private val high = HashKeyRange.uniform(2)(1)

  test("a map requires open shards that contain each hash key exactly once") {
    val cases = Seq(
      Seq(shard(0, low), shard(1, high)) -> "",
      Seq(shard(0, HashKeyRange.Whole)) -> "",
      Seq(shard(0, HashKeyRange.Whole, end = Some("2")), shard(1, low), shard(2, high)) -> "",
      Seq.empty[Shard] -> s"no open shard contains the hash keys 0 to ${HashKeyRange.Max}",
      Seq(shard(0, HashKeyRange.Whole, end = Some("2"))) -> "no open shard",
      Seq(shard(0, low)) -> s"no open shard contains the hash keys ${high.start} to ${high.end}",
      Seq(shard(1, high)) -> s"no open shard contains the hash keys 0 to ${low.end}",
      Seq(shard(0, HashKeyRange.Whole), shard(1, low)) ->
        "shardId-000000000000 and shardId-000000000001 contain the same hash keys"
    )
    cases.foreach { case (listed, refusal) =>
      val found = ShardMap.of(listed)
      assert(found.isRight == refusal.isEmpty, listed)
      found.left.foreach(text => assert(text.contains(refusal)))
    }
  }

  test("two maps agree unless a common shard has another range or starting sequence number") {
    def map(shards: Shard*) = ShardMap.of(shards).getOrElse(fail("no map"))
    val first = map(shard(0, low), shard(1, high))
    assert(first.agreesWith(map(shard(0, low), shard(2, high))))
    assert(first.agreesWith(map(shard(2, HashKeyRange.Whole))))
    assert(!first.agreesWith(map(shard(0, low, start = "9"), shard(1, high))))
    assert(!first.agreesWith(map(shard(0, HashKeyRange.Whole))))
  }

  test("records in aggregates never need more bytes than their upper bound, including explicit hash keys") {
    val sizes = Gen.frequency(8 -> Gen.choose(0, 200), 1 -> Gen.choose(20000, 60000))
    val records = Gen.nonEmptyListOf(for {
      key <- Gen.choose(1, 256).flatMap(n => Gen.stringOfN(n, Gen.alphaNumChar))
      hash <- Gen.option(Gen.choose(0, 1 << 30).map(n => (HashKeyRange.Max - n).toString))
      size <- sizes
    } yield record(key, size, hash))
    val map = ShardMap.of(Seq(shard(0, low), shard(1, high))).getOrElse(fail("no map"))
    forAll(records) { given =>
      val packed =
        AggregatePacker(keepKeysTogether = false, 500).pack(given.toIndexedSeq, Some(ShardPrediction(map, _ => false)))
      assert(packed.entries.map(_.put.size).sum <= given.map(AggregateSize.atMost).sum)
    }
  }

  private def verdictsBy(rules: RetryRules) = new PutVerdicts(
    Operation.PutRecords,
    Set("ProvisionedThroughputExceededException", "KMSThrottlingException"),
    rules
  )
  private val verdicts = verdictsBy(RetryRules.Default)

  private def cause(verdict: Verdict) = verdict match {
    case Verdict.Retry(cause, _) => cause.toString
    case other => other.getClass.getSimpleName.stripSuffix("$")
  }

  test("failures of PutRecords that the options name are retried") {
    val tolerant = verdictsBy(RetryRules(Set("KMSOptInRequired", "AccessDeniedException")))
    def failed(code: String) =
      new ServiceException(ServiceErrorKind.AccessDenied, Operation.PutRecords, code, "why")
    val cases = Seq(
      tolerant.refused("KMSOptInRequired", "why") -> Failed.toString,
      tolerant.refused("KMSNotFoundException", "why") -> "Fatal",
      tolerant.of(failed("AccessDeniedException")) -> Failed.toString,
      tolerant.of(failed("UnrecognizedClientException")) -> "Fatal"
    )
    cases.foreach { case (verdict, expected) => assert(cause(verdict) == expected) }
  }

  test("results of PutRecords are accepted, retried or fatal") {
    def rejected(code: String) = verdicts.refused(code, "why")
    def failed(kind: ServiceErrorKind) = verdicts.of(new ServiceException(kind, Operation.PutRecords, "Code", "why"))
    val cases = Seq(
      rejected("ProvisionedThroughputExceededException") -> Throttled.toString,
      rejected("KMSThrottlingException") -> Throttled.toString,
      rejected("InternalFailure") -> Failed.toString,
      rejected("SomethingNew") -> Failed.toString,
      rejected("KMSDisabledException") -> Failed.toString,
      rejected("KMSInvalidStateException") -> Failed.toString,
      rejected("KMSAccessDeniedException") -> Failed.toString,
      rejected("KMSNotFoundException") -> "Fatal",
      rejected("KMSOptInRequired") -> "Fatal",
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
      failed(ServiceErrorKind.Client) -> "Fatal",
      failed(ServiceErrorKind.NoCredentials) -> Failed.toString,
      failed(ServiceErrorKind.StaleIdentity) -> Failed.toString,
      failed(ServiceErrorKind.KeyUnavailable) -> Failed.toString,
      failed(ServiceErrorKind.ForeignAnswer) -> "Fatal"
    )
    cases.foreach { case (verdict, expected) => assert(cause(verdict) == expected) }
  }

  test("each stored record counts one payload unit per 25 KB or part of it") {
    val counts = new PutCounts
    val sizes = Seq(1, 25 * 1024 - 1, 25 * 1024, 60 * 1024)
    val entries = sizes.toIndexedSeq.map(size => PutEntry("k", None, new Array[Byte](size)))
    val accepted = PutResult.Accepted(ShardId.ofIndex(0), SequenceNumber("1"))
    val refused = PutResult.Rejected("InternalFailure", "")
    val all = PutSize.of(entries)
    counts.answered(entries, entries.map(_ => accepted), all)
    counts.answered(entries, entries.map(_ => refused), all)
    assert((counts.records, counts.payloadUnits) == (4L, 1L + 1L + 2L + 3L))
    counts.answered(entries, IndexedSeq(refused, accepted, refused, accepted), all)
    assert((counts.records, counts.payloadUnits) == (6L, 7L + 1L + 3L))
  }
}
