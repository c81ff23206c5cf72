package org.sparkkinesis.integration.read

import org.apache.spark.sql.streaming.StreamingQueryException
import org.apache.spark.sql.{Dataset, Row}

import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.kit.stream._
import org.sparkkinesis.model.hash.{HashKey, HashKeyRange}

class FilteredRerunSuite extends SparkSuite {
  test("a batch that is repeated after a restart is filtered by the shards' hash ranges as before") {
    val (own, others) = (0 until 40).partition { n =>
      HashKeyRange.uniform(2)(0).contains(HashKey.ofPartitionKey(StreamRun.partitionKey(n)))
    }
    assert(own.nonEmpty && others.nonEmpty)
    var first = Vector.empty[(Long, Vector[Int])]
    val failing: (Dataset[Row], Long) => Unit = (rows, id) => {
      first :+= id -> rows.collect().map(Collected.number).toVector.sorted
      throw new IllegalStateException("killed after its rows were read")
    }
    testStream("filtered", 2, "deaggregation.hashRangeFilter" -> "true")(
      PutAggregate(0 until 40, explicitHashKey = Some("0")),
      StartStream(onBatch = failing),
      Execute("the batch fails")(run => intercept[StreamingQueryException](run.query.awaitTermination())),
      Execute("it had the rows of its shard")(_ => assert(first.map(_._2) == Vector(own.toVector))),
      StartStream(),
      ProcessAllAvailable,
      StopStream,
      Execute("the same batch ran again")(run => assert(run.collected.ids == first.map(_._1))),
      CheckRowsNow(own)
    )
  }
}
