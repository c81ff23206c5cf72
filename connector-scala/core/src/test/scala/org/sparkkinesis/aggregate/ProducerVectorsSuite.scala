package org.sparkkinesis.aggregate

import scala.io.Source
import scala.util.Using

import org.sparkkinesis.chunk.{ChunkBuilder, DecodeSettings}
import org.sparkkinesis.config.Options
import org.sparkkinesis.event.ConsumerMetrics
import org.sparkkinesis.json.Json
import org.sparkkinesis.model.KinesisRecord
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.suite.TimedSuite

/** Reads the aggregates of `tests/interop/producer_vectors.py` in every mode. */
class ProducerVectorsSuite extends TimedSuite {
  import ProducerVectorsSuite._

  /** The two shards of a stream, by whether their hash keys are in the lower half. */
  private val shards = Seq(true -> HashKeyRange(BigInt(0), Middle - 1), false -> HashKeyRange(Middle, HashKeyRange.Max))

  for (vector <- load()) {
    test(s"${vector.producer}: without de-aggregation, the aggregate is one row") {
      val (rows, _) = read(vector, deaggregates = false, filters = false, shards.head._2)
      assert(rows == Seq(Row("of the record", vector.container.toSeq)))
    }

    test(s"${vector.producer}: with de-aggregation, each record is a row, in any shard") {
      for ((_, shard) <- shards) {
        val (rows, dropped) = read(vector, deaggregates = true, filters = false, shard)
        assert(rows == vector.rows.map(_._1) && dropped == 0)
      }
    }

    test(s"${vector.producer}: with hashRangeFilter, only the records of the shard's range are rows") {
      for ((isLower, shard) <- shards) {
        val (rows, dropped) = read(vector, deaggregates = true, filters = true, shard)
        val own = vector.rows.filter(_._2 == isLower).map(_._1)
        assert(rows == own && dropped == vector.rows.size - own.size)
      }
    }
  }

  test("the producers put keys of other shards into one aggregate, so the filter would lose rows") {
    val mixed = load().filter(vector => vector.rows.map(_._2).distinct.size == 2)
    assert(mixed.map(_.producer) == Seq("aws_kinesis_agg for Python", "aws-kinesis-agg for Node.js"))
  }

  private def read(
      vector: Produced,
      deaggregates: Boolean,
      filters: Boolean,
      shard: HashKeyRange
  ): (Seq[Row], Long) = {
    val settings =
      DecodeSettings.of(Options.defaults).copy(deaggregate = deaggregates, hashRangeFilter = filters)
    val metrics = new ConsumerMetrics
    val record = new KinesisRecord("1", "of the record", 0, vector.container, null)
    val chunks = new ChunkBuilder(settings, Some(shard), metrics).build(IndexedSeq(record), 0)
    val rows = chunks.flatMap(chunk => (0 until chunk.rows).map(i => Row(chunk.partitionKey(i), chunk.data(i).toSeq)))
    (rows, metrics.filteredRows.sum)
  }
}

object ProducerVectorsSuite {
  private val Middle = BigInt(2).pow(127)

  final private case class Row(key: String, data: Seq[Byte])

  /** @param rows the rows, and whether the hash of their key is in the lower half */
  final private case class Produced(producer: String, rows: Seq[(Row, Boolean)], container: Array[Byte])

  private def load(): Seq[Produced] = {
    val text = Using.resource(Source.fromResource("golden/producer-vectors.json"))(_.mkString)
    items(Json.parse(text).fold(problem => throw new AssertionError(problem), identity)).map { vector =>
      Produced(string(vector, "producer"), items(field(vector, "rows")).map(row), hex(vector, "container"))
    }
  }

  private def row(json: Json): (Row, Boolean) =
    Row(string(json, "key"), hex(json, "data").toSeq) -> (field(json, "lower") == Json.Bool(true))

  private def items(json: Json): Seq[Json] = json match {
    case Json.Arr(items) => items
    case other => throw new AssertionError(s"not a list: $other")
  }

  private def field(json: Json, name: String): Json = json.field(name).getOrElse(throw new AssertionError(s"no $name"))
  private def string(json: Json, name: String): String = field(json, name).asString.get
  private def hex(json: Json, name: String): Array[Byte] = Containers.hex(string(json, name))
}
