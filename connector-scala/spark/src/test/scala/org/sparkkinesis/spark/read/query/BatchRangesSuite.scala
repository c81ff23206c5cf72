package org.sparkkinesis.spark.read.query

import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.model.StreamShard
import org.sparkkinesis.plan.offset.SourceOffset
import org.sparkkinesis.service.ShardPage
import org.sparkkinesis.spark.connection.FakeDirectory.{arn, shards}
import org.sparkkinesis.spark.session.check.RetentionCheck
import org.sparkkinesis.spark.session.checkpoint.MemoryFiles
import org.sparkkinesis.spark.session.{SessionFixture, StreamShards}

class BatchRangesSuite extends SessionFixture {

  /** A batch of an earlier run that reads a shard, of which nothing is known but what listings show. */
  final private class Rig(hashRangeFilter: Boolean)
      extends SessionRig(
        Seq("orders"),
        failOnDataLoss = false,
        Map.empty,
        Map("deaggregation.hashRangeFilter" -> hashRangeFilter.toString)
      ) {
    val shard = shards(2)(1)
    private val retention = new RetentionCheck(session, new MemoryFiles)
    private val ranges = new BatchRanges(session, retention, _ => None, environment)
    private val start = SourceOffset(Seq(stream("orders", Created)))
    private val end = SourceOffset(Seq(stream("orders", Created, 1 -> readUpTo(time.currentMillis))))
    service.unlisted = Set(shard.id)
    def rangeOfShard() = {
      val found = ranges.of(start, end, None, start)
      assert(found.map(_.shard) == Seq(StreamShard(arn("orders"), shard.id)))
      found.head.hashKeyRange
    }

    /** The first listings are older than the shard. */
    def firstLacks(listings: Int): Unit = {
      service.listings.clear()
      service.listings ++= Seq.fill(listings)(ShardPage(shards(1), None))
    }
  }

  test("a batch that is repeated waits for the hash key range of a shard that listings lack, for the filter") {
    val rig = new Rig(hashRangeFilter = true)
    rig.firstLacks(20)
    rig.service.listings += ShardPage(shards(2), None)
    assert(rig.rangeOfShard().contains(rig.shard.hashKeyRange))
    assert(rig.listings == 21)
  }

  test("a shard that does not exist any more has no hash key range") {
    val rig = new Rig(hashRangeFilter = true)
    rig.firstLacks(1)
    rig.service.unlisted = Set.empty
    assert(rig.rangeOfShard().isEmpty && rig.listings == 1)
  }

  test("a shard that exists, and that no listing has, is not read without the filter") {
    val rig = new Rig(hashRangeFilter = true)
    rig.firstLacks(1)
    val error = intercept[KinesisConnectorException](rig.rangeOfShard()).condition
    assert(error == "KINESIS_SHARD_NOT_LISTED" && rig.listings == StreamShards.LongestListings)
  }

  test("without the filter nothing is listed") {
    val rig = new Rig(hashRangeFilter = false)
    assert(rig.rangeOfShard().isEmpty && rig.listings == 0)
  }
}
