package org.sparkkinesis.chunk

import org.scalacheck.Gen

import org.sparkkinesis.aggregate.Containers
import org.sparkkinesis.aggregate.Containers.User
import org.sparkkinesis.config.Options
import org.sparkkinesis.event.ConsumerMetrics
import org.sparkkinesis.model.KinesisRecord
import org.sparkkinesis.suite.PropertySuite

class ChunkCodecSuite extends PropertySuite {
  private val settings = DecodeSettings.of(Options.defaults)
  private def build(records: Seq[KinesisRecord]) =
    new ChunkBuilder(settings, None, new ConsumerMetrics).build(records.toVector, 7)

  private def rows(chunk: Chunk) = (0 until chunk.rows).map { row =>
    (
      chunk.data(row).toSeq,
      chunk.partitionKey(row),
      chunk.sequenceNumber(row),
      chunk.arrivalMillis(row),
      chunk.subSequenceNumber(row),
      chunk.aggregated(row),
      chunk.explicitHashKey(row),
      chunk.encryptionType(row)
    )
  }

  private val text = Gen.frequency(8 -> Gen.alphaNumStr, 1 -> Gen.const(""), 1 -> Gen.const("ключ"))
  private val user = for {
    key <- Gen.oneOf("a", "b", "ключ")
    data <- text
    hashKey <- Gen.option(Gen.choose(0L, Long.MaxValue).map(_.toString))
  } yield User(key, data, hashKey)

  private def record(number: Int) = for {
    data <- Gen.frequency(
      3 -> text.map(_.getBytes("UTF-8")),
      1 -> Gen.choose(1, 5).flatMap(Gen.listOfN(_, user)).map(Containers.of(_: _*))
    )
    key <- Gen.frequency(4 -> text, 1 -> Gen.const(null))
    arrival <- Gen.choose(0L, 100000L)
    encryption <- Gen.oneOf(null, "NONE", "KMS")
  } yield new KinesisRecord(number.toString, key, arrival, data, encryption)

  private val chunks = for {
    count <- Gen.choose(1, 30)
    records <- Gen.sequence[List[KinesisRecord], KinesisRecord]((1 to count).map(record))
    parts <- Gen.choose(1, count)
  } yield records.grouped(parts).flatMap(build).toVector

  test("decoded chunks have the same rows, in one chunk") {
    forAll(chunks) { (chunks: Vector[Chunk]) =>
      val decoded = ChunkCodec.decode(ChunkCodec.encode(chunks))
      assert(rows(decoded) == chunks.flatMap(rows))
      assert(decoded.bytes == chunks.map(_.bytes).sum && decoded.millisBehindLatest == 7)
      assert(decoded.newestArrivalMillis == chunks.map(_.newestArrivalMillis).max)
    }
  }

  test("a part of a chunk is encoded without the rest") {
    val whole = build((1 to 9).map(n => new KinesisRecord(n.toString, s"k$n", n.toLong, Array(n.toByte), null))).head
    val part = whole.after(whole.sequenceNumber(2)).get.upTo(whole.sequenceNumber(5)).get
    val decoded = ChunkCodec.decode(ChunkCodec.encode(Seq(part)))
    assert(rows(decoded) == rows(part) && rows(decoded).map(_._2) == Seq("k4", "k5", "k6"))
  }

  test("a changed byte is noticed, and so is a missing end") {
    val bytes = ChunkCodec.encode(build(Seq(new KinesisRecord("1", "key", 1, "data".getBytes, null))))
    bytes.indices.foreach { index =>
      val changed = bytes.clone()
      changed(index) = (changed(index) ^ 4).toByte
      intercept[ChunkCodec.Damaged](ChunkCodec.decode(changed))
    }
    bytes.indices.foreach(length => intercept[ChunkCodec.Damaged](ChunkCodec.decode(bytes.take(length))))
  }
}
