package org.sparkkinesis.integration.read

import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException}
import org.apache.spark.sql.{Dataset, Row}

import org.sparkkinesis.aggregate.Aggregator
import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.kit.stream.Collected
import org.sparkkinesis.model.hash.{HashKey, HashKeyRange}

class FilteredRerunSuite extends SparkSuite {
  private val keys = (0 until 40).map(i => s"key-$i")
  private def isInFirstShard(key: String) = HashKeyRange.uniform(2)(0).contains(HashKey.ofPartitionKey(key))

  private def start(at: String)(sink: (Dataset[Row], Long) => Unit): StreamingQuery =
    readStream("filtered", "deaggregation.hashRangeFilter" -> "true").load().writeStream
      .option("checkpointLocation", at).foreachBatch(sink).start()

  test("a batch that is repeated after a restart is filtered by the shards' hash ranges as before") {
    kinesis.admin.createStream("filtered", 2)
    val container = new Aggregator(100000)
    keys.foreach(key => assert(container.tryAdd(key, None, utf8(key))))
    kinesis.admin.putRecord("filtered", "a", "0", container.result())
    val (own, others) = keys.partition(isInFirstShard)
    assert(own.nonEmpty && others.nonEmpty)

    val at = checkpoint()
    val first = new Collected
    val failing = start(at) { (rows, id) =>
      first.sink(rows, id)
      throw new IllegalStateException("killed after its rows were read")
    }
    intercept[StreamingQueryException](failing.awaitTermination())
    assert(first.texts.sorted == own.sorted)

    val second = new Collected
    val query = start(at)(second.sink)
    query.processAllAvailable()
    query.stop()
    assert(second.ids == first.ids)
    assert(second.texts.sorted == own.sorted)
  }
}
