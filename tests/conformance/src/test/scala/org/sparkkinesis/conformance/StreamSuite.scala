package org.sparkkinesis.conformance

import java.time.Instant

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import software.amazon.awssdk.core.SdkBytes
import software.amazon.awssdk.services.kinesis.model._

import org.sparkkinesis.conformance.backend.{OnBackend, OnOwn}
import org.sparkkinesis.conformance.client.Calls
import org.sparkkinesis.model.SequenceNumber
import org.sparkkinesis.model.hash.{HashKey, HashKeyRange}
import org.sparkkinesis.suite.TimedSuite

/** Tests streams, shards, records and resharding as the service documents them. */
abstract class StreamSuite extends TimedSuite with OnBackend {
  override protected def timeLimit: FiniteDuration = 2.minutes
  private val First = "shardId-000000000000"

  conforms("a new stream has the default settings") {
    val stream = newStream(2)
    val summary = calls.summary(stream)
    assert(summary.streamName == stream)
    assert(summary.streamARN.matches(s"arn:aws:kinesis:us-east-1:\\d{12}:stream/$stream"), summary.streamARN)
    assert(summary.openShardCount.intValue == 2)
    assert(summary.retentionPeriodHours.intValue == 24)
    assert(summary.encryptionType == EncryptionType.NONE)
    assert(summary.streamModeDetails.streamMode == StreamMode.PROVISIONED)
    assert(Calls.await(calls.client.listStreams()).streamNames.contains(stream))
  }

  conforms("the shards of a new stream divide the key space like the service's") {
    val shards = calls.shards(newStream(3))
    assert(shards.map(_.shardId) == Vector(First, "shardId-000000000001", "shardId-000000000002"))
    val ranges =
      shards.map(s => HashKeyRange(BigInt(s.hashKeyRange.startingHashKey), BigInt(s.hashKeyRange.endingHashKey)))
    assert(ranges == HashKeyRange.uniform(3).toVector)
  }

  conforms("a record is stored in the shard of its key's MD5 or of its explicit hash key") {
    val stream = newStream(2)
    val shards = calls.shards(stream)
    def owner(hash: BigInt): String = shards.find(s => BigInt(s.hashKeyRange.endingHashKey) >= hash).get.shardId
    Seq("a", "b", "key", "ünï").foreach { key =>
      assert(calls.put(stream, key, "x").shardId == owner(HashKey.ofPartitionKey(key)), key)
    }
    assert(calls.putToShard(stream, "0", "x").shardId == First)
    assert(calls.putToShard(stream, HashKeyRange.Max.toString, "x").shardId == "shardId-000000000001")
  }

  conforms("sequence numbers have 56 digits and grow within a shard") {
    val stream = newStream(1)
    val numbers = (1 to 5).map(i => calls.put(stream, s"k$i", "x").sequenceNumber)
    assert(numbers.forall(_.length == 56), numbers.toString)
    assert(numbers.map(SequenceNumber.trusted).sorted.map(_.value) == numbers)
    val start = calls.shards(stream).head.sequenceNumberRange.startingSequenceNumber
    assert(SequenceNumber.trusted(start) < SequenceNumber.trusted(numbers.head))
  }

  conforms("PutRecords results are in the order of the entries, and records keep key and payload") {
    val stream = newStream(2)
    val texts = (1 to 20).map(i => s"text $i")
    val entries =
      texts.map(t => PutRecordsRequestEntry.builder().partitionKey(t).data(SdkBytes.fromUtf8String(t)).build()).asJava
    val reply =
      Calls.await(calls.client.putRecords((r: PutRecordsRequest.Builder) => r.streamName(stream).records(entries)))
    assert(reply.failedRecordCount.intValue == 0)
    val stored = calls.shards(stream).flatMap(s => calls.records(iterator(stream, s.shardId)).records.asScala)
    val byNumber = stored.map(r => r.sequenceNumber -> r).toMap
    reply.records.asScala.zip(texts).foreach { case (result, text) =>
      val record = byNumber(result.sequenceNumber)
      assert(record.data.asUtf8String == text)
      assert(record.partitionKey == text)
    }
  }

  conforms("the five iterator types start at their positions") {
    val stream = newStream(1)
    val put = Seq("a", "b", "c").map(calls.put(stream, "k", _))
    val second = put(1).sequenceNumber
    val latest = calls.iterator(stream, First, ShardIteratorType.LATEST)
    calls.put(stream, "k", "d")
    assert(calls.texts(iterator(stream, First)) == Vector("a", "b", "c", "d"))
    assert(
      calls.texts(calls.iterator(stream, First, ShardIteratorType.AT_SEQUENCE_NUMBER, second)) ==
        Vector("b", "c", "d")
    )
    assert(
      calls.texts(calls.iterator(stream, First, ShardIteratorType.AFTER_SEQUENCE_NUMBER, second)) ==
        Vector("c", "d")
    )
    assert(calls.texts(latest) == Vector("d"))
  }

  conforms("AT_TIMESTAMP starts with the first record at or after the time") {
    val stream = newStream(1)
    calls.put(stream, "k", "old")
    val old = calls.records(iterator(stream, First)).records.get(0).approximateArrivalTimestamp
    backend.passTime(1.second)
    calls.put(stream, "k", "new")
    def from(time: Instant): Vector[String] =
      calls.texts(calls.iterator(stream, First, ShardIteratorType.AT_TIMESTAMP, time = time))
    assert(from(old.plusMillis(500)) == Vector("new"))
    assert(from(old.minusSeconds(3600)) == Vector("old", "new"))
  }

  conforms("an iterator at a timestamp in the future is InvalidArgument") {
    val stream = newStream(1)
    val future = Instant.now().plusSeconds(100L * 24 * 3600)
    intercept[InvalidArgumentException](calls.iterator(stream, First, ShardIteratorType.AT_TIMESTAMP, time = future))
  }

  conforms("GetRecords returns at most Limit records, and its lag is 0 at the tip") {
    val stream = newStream(1)
    (1 to 5).foreach(i => calls.put(stream, "k", s"$i"))
    val first = calls.records(iterator(stream, First), 3)
    assert(first.records.asScala.map(_.data.asUtf8String).toVector == Vector("1", "2", "3"))
    val second = calls.records(first.nextShardIterator, 3)
    assert(second.records.asScala.map(_.data.asUtf8String).toVector == Vector("4", "5"))
    assert(second.millisBehindLatest.longValue == 0L)
    val empty = calls.records(second.nextShardIterator)
    assert(empty.records.isEmpty && empty.nextShardIterator != null)
  }

  conforms("a split closes the parent and opens two children with its halves") {
    val stream = newStream(1)
    calls.put(stream, "k", "before")
    calls.split(stream, calls.shards(stream).head)
    val Vector(parent, lower, upper) = calls.shards(stream): @unchecked
    assert(parent.sequenceNumberRange.endingSequenceNumber != null)
    assert(Seq(lower, upper).map(_.parentShardId) == Seq(First, First))
    assert(BigInt(lower.hashKeyRange.endingHashKey) + 1 == BigInt(upper.hashKeyRange.startingHashKey))
    val end = SequenceNumber.trusted(parent.sequenceNumberRange.endingSequenceNumber)
    assert(SequenceNumber.trusted(lower.sequenceNumberRange.startingSequenceNumber) > end)
    assert(SequenceNumber.trusted(calls.put(stream, "k", "after").sequenceNumber) > end)
  }

  conforms("the end of a closed shard has no next iterator and names the children") {
    val stream = newStream(1)
    calls.put(stream, "k", "a")
    calls.split(stream, calls.shards(stream).head)
    var page = calls.records(iterator(stream, First))
    assert(page.records.asScala.map(_.data.asUtf8String).toVector == Vector("a"))
    while (page.nextShardIterator != null) page = calls.records(page.nextShardIterator)
    assert(
      page.childShards.asScala.map(c => (c.shardId, c.parentShards.asScala.toVector)).toVector ==
        Vector(("shardId-000000000001", Vector(First)), ("shardId-000000000002", Vector(First)))
    )
  }

  conforms("a merged shard names both parents and covers both ranges") {
    val stream = newStream(2)
    val Vector(left, right) = calls.shards(stream): @unchecked
    calls.merge(stream, left, right)
    val merged = calls.openShards(stream)
    assert(merged.size == 1)
    assert(merged.head.parentShardId == left.shardId)
    assert(merged.head.adjacentParentShardId == right.shardId)
    assert(BigInt(merged.head.hashKeyRange.endingHashKey) == HashKeyRange.Max)
  }

  conforms("merging shards that are not adjacent is InvalidArgument") {
    val stream = newStream(3)
    val Vector(left, _, right) = calls.shards(stream): @unchecked
    intercept[InvalidArgumentException](calls.merge(stream, left, right))
  }

  conforms("UpdateShardCount reaches uniform ranges") {
    val stream = newStream(2)
    Calls.await(calls.client.updateShardCount { (r: UpdateShardCountRequest.Builder) =>
      r.streamName(stream).targetShardCount(4).scalingType(ScalingType.UNIFORM_SCALING)
      ()
    })
    calls.awaitActive(stream)
    val ranges = calls.openShards(stream).map(_.hashKeyRange.startingHashKey).map(BigInt(_)).sorted
    assert(ranges == HashKeyRange.uniform(4).map(_.start).toVector)
  }

  conforms("UpdateShardCount to more than twice the shards is InvalidArgument") {
    val stream = newStream(1)
    intercept[InvalidArgumentException](Calls.await(calls.client.updateShardCount {
      (r: UpdateShardCountRequest.Builder) =>
        r.streamName(stream).targetShardCount(3).scalingType(ScalingType.UNIFORM_SCALING)
        ()
    }))
  }

  conforms("ListShards filters open shards and pages with a token as the only parameter") {
    val stream = newStream(2)
    calls.split(stream, calls.shards(stream).head)
    val open = Calls.await(calls.client.listShards { (r: ListShardsRequest.Builder) =>
      r.streamName(stream).shardFilter(ShardFilter.builder().`type`(ShardFilterType.AT_LATEST).build())
      ()
    })
    assert(open.shards.asScala.map(_.shardId).toSet == calls.openShards(stream).map(_.shardId).toSet)
    val first =
      Calls.await(calls.client.listShards((r: ListShardsRequest.Builder) => r.streamName(stream).maxResults(3)))
    assert(first.shards.size == 3)
    val rest = Calls.await(calls.client.listShards((r: ListShardsRequest.Builder) => r.nextToken(first.nextToken)))
    assert(rest.shards.size == 1)
    intercept[InvalidArgumentException](
      Calls.await(calls.client.listShards((r: ListShardsRequest.Builder) =>
        r.streamName(stream).nextToken(first.nextToken)
      ))
    )
  }

  conforms("a missing stream is ResourceNotFound, and an existing one ResourceInUse") {
    intercept[ResourceNotFoundException](calls.put("conformance-no-such-stream", "k", "x"))
    intercept[ResourceNotFoundException](calls.summary("conformance-no-such-stream"))
    val stream = newStream(1)
    intercept[ResourceNotFoundException](iterator(stream, "shardId-000000000099"))
    intercept[ResourceInUseException](calls.createStream(stream, 1))
  }

  conforms("invalid arguments are errors") {
    val stream = newStream(1)
    intercept[InvalidArgumentException](calls.records("no-iterator"))
    intercept[InvalidArgumentException](calls.iterator(stream, First, ShardIteratorType.AT_SEQUENCE_NUMBER, "12345"))
    assert(
      intercept[KinesisException](calls.put(stream, "k" * 257, "x")).awsErrorDetails.errorCode ==
        "ValidationException"
    )
    val refused = intercept[KinesisException](calls.putToShard(stream, (HashKeyRange.Max + 1).toString, "x"))
    assert(refused.awsErrorDetails.errorCode == "InvalidArgumentException")
  }

  conforms("retention, encryption and tags are stored and returned") {
    val stream = newStream(1)
    Calls.await(calls.client.increaseStreamRetentionPeriod((r: IncreaseStreamRetentionPeriodRequest.Builder) =>
      r.streamName(stream).retentionPeriodHours(48)
    ))
    calls.awaitActive(stream)
    assert(calls.summary(stream).retentionPeriodHours.intValue == 48)
    Calls.await(calls.client.startStreamEncryption { (r: StartStreamEncryptionRequest.Builder) =>
      r.streamName(stream).encryptionType(EncryptionType.KMS).keyId("alias/aws/kinesis")
      ()
    })
    calls.awaitActive(stream)
    assert(calls.put(stream, "k", "x").encryptionType == EncryptionType.KMS)
    assert(calls.records(iterator(stream, First)).records.get(0).encryptionType == EncryptionType.KMS)
    Calls.await(calls.client.addTagsToStream((r: AddTagsToStreamRequest.Builder) =>
      r.streamName(stream).tags(Map("team" -> "data").asJava)
    ))
    val tags =
      Calls.await(calls.client.listTagsForStream((r: ListTagsForStreamRequest.Builder) => r.streamName(stream))).tags
    assert(tags.asScala.map(t => t.key -> t.value).toVector == Vector("team" -> "data"))
  }

  conforms("some of five 1 MB records in one call fail with ProvisionedThroughputExceeded") {
    assume(backend.enforcesQuotas, s"$backendName has no write quotas")
    val stream = newStream(1)
    val data = SdkBytes.fromByteArray(new Array[Byte](1000 * 1000))
    val entries = Seq.fill(5)(PutRecordsRequestEntry.builder().partitionKey("k").data(data).build()).asJava
    val reply =
      Calls.await(calls.client.putRecords((r: PutRecordsRequest.Builder) => r.streamName(stream).records(entries)))
    assert(reply.failedRecordCount.intValue == 4)
    assert(
      reply.records.asScala.map(_.errorCode).filter(_ != null).toSet ==
        Set("ProvisionedThroughputExceededException")
    )
  }

  private def iterator(stream: String, shard: String): String =
    calls.iterator(stream, shard, ShardIteratorType.TRIM_HORIZON)
}

class OwnStreamSuite extends StreamSuite with OnOwn
