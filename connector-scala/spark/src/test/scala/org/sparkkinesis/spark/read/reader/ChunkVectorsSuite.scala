package org.sparkkinesis.spark.read.reader

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}

import org.sparkkinesis.aggregate.Containers.User
import org.sparkkinesis.chunk.Chunk
import org.sparkkinesis.model.{SequenceNumber, ShardId, StreamShard}
import org.sparkkinesis.spark.read.reader.TestChunks._
import org.sparkkinesis.spark.settings.KinesisSchema
import org.sparkkinesis.suite.TimedSuite

class ChunkVectorsSuite extends TimedSuite {
  private def batch(chunk: Chunk, schema: StructType = KinesisSchema.all): ColumnarBatch =
    ChunkVectors.batch(schema, texts(Some("logical")), chunk)

  private def texts(streamId: Option[String]) =
    ShardTexts.of("orders", StreamShard("arn:orders", ShardId.ofIndex(3)), streamId)

  private val chunkOfAll = chunk(
    0,
    plain(10, "first", "ключ", arrival = 1_600_000_000_123L, encryption = "KMS"),
    aggregate(20, User("x", "second"), User("y", "third", Some("17"))),
    plain(30, "", null, arrival = 5)
  )

  /** Returns the values of one column by row, read as Spark's generated code reads them. */
  private def column(of: ColumnarBatch, name: String): Seq[Any] = {
    val vector = of.column(KinesisSchema.all.fieldIndex(name))
    (0 until of.numRows).map { row =>
      if (vector.isNullAt(row)) null
      else vector.dataType match {
        case StringType => vector.getUTF8String(row).toString
        case BinaryType => new String(vector.getBinary(row), "UTF-8")
        case LongType | TimestampType => vector.getLong(row)
        case BooleanType => vector.getBoolean(row)
        case other => fail(s"a column of $other")
      }
    }
  }

  private val expected: Seq[(String, Seq[Any])] = Seq(
    KinesisSchema.PartitionKey -> Seq("ключ", "x", "y", null),
    KinesisSchema.Data -> Seq("first", "second", "third", ""),
    KinesisSchema.Stream -> Seq.fill(4)("orders"),
    KinesisSchema.ShardId -> Seq.fill(4)("shardId-000000000003"),
    KinesisSchema.SequenceNumber -> Seq("10", "20", "20", "30"),
    KinesisSchema.ArrivalTimestamp -> Seq(1_600_000_000_123_000L, 20000L, 20000L, 5000L),
    KinesisSchema.SubSequenceNumber -> Seq(0L, 0L, 1L, 0L),
    KinesisSchema.ExplicitHashKey -> Seq(null, null, "17", null),
    KinesisSchema.EncryptionType -> Seq("KMS", null, null, null),
    KinesisSchema.Aggregated -> Seq(false, true, true, false),
    KinesisSchema.StreamArn -> Seq.fill(4)("arn:orders"),
    KinesisSchema.StreamId -> Seq.fill(4)("logical")
  )

  test("streamId is null without a logical stream") {
    val vector = ChunkVectors.batch(KinesisSchema.all, texts(None), chunkOfAll)
      .column(KinesisSchema.all.fieldIndex(KinesisSchema.StreamId))
    assert((0 until 4).forall(vector.isNullAt) && vector.hasNull && vector.getUTF8String(0) == null)
  }

  test("the test covers every column of a stream") {
    assert(expected.map(_._1) == KinesisSchema.all.fieldNames.toSeq)
  }

  expected.foreach { case (name, values) =>
    test(s"$name has a value for every row of plain records and aggregates") {
      val all = batch(chunkOfAll)
      assert(all.numRows == 4)
      assert(column(all, name) == values)
    }

    test(s"$name of a slice contains the values of its rows") {
      assert(column(batch(chunkOfAll.after(SequenceNumber("10")).get), name) == values.drop(1))
      assert(column(batch(chunkOfAll.upTo(SequenceNumber("20")).get), name) == values.take(3))
    }
  }

  test("a column with a null reports that it has nulls, and each vector has its field's type") {
    val all = batch(chunkOfAll)
    expected.zipWithIndex.foreach { case ((name, values), index) =>
      val vector = all.column(index)
      assert(vector.dataType == KinesisSchema.all(name).dataType, name)
      assert(vector.hasNull || !values.contains(null), name)
    }
  }

  test("the payload is the record's own array, not a copy") {
    val record = plain(1, "data")
    val vector = batch(chunk(0, record)).column(KinesisSchema.all.fieldIndex(KinesisSchema.Data))
    assert(vector.getBinary(0) eq record.data)
  }

  test("a batch has exactly the requested columns in their order") {
    val schema = StructType(Seq(KinesisSchema.all(KinesisSchema.Aggregated), KinesisSchema.all(KinesisSchema.Data)))
    val rows = batch(chunkOfAll, schema).rowIterator().asScala.map { row =>
      assert(row.numFields == 2)
      row.getBoolean(0) -> new String(row.getBinary(1), "UTF-8")
    }.toSeq
    assert(rows == Seq(false -> "first", true -> "second", true -> "third", false -> ""))
  }

  test("a batch without columns, as for a count, has the number of rows") {
    val none = batch(chunkOfAll, StructType(Nil))
    assert(none.numRows == 4 && none.numCols == 0)
    assert(none.rowIterator().asScala.size == 4)
  }

  test("an unknown column is an error with its name") {
    val error = intercept[IllegalArgumentException](batch(chunkOfAll, new StructType().add("offset", LongType)))
    assert(error.getMessage.contains("offset"))
  }

  test("reading a column as another type is an error") {
    val text = batch(chunkOfAll).column(0)
    Seq[ColumnVector => Any](_.getLong(0), _.getInt(0), _.getBinary(0), _.getBoolean(0), _.getDouble(0), _.getArray(0))
      .foreach(read => intercept[UnsupportedOperationException](read(text)))
  }
}
