package org.sparkkinesis.chunk

import org.scalacheck.Gen

import org.sparkkinesis.aggregate.Containers
import org.sparkkinesis.aggregate.Containers.User
import org.sparkkinesis.config.Options
import org.sparkkinesis.event.ConsumerMetrics
import org.sparkkinesis.model._
import org.sparkkinesis.model.hash.{HashKey, HashKeyRange}
import org.sparkkinesis.model.packed.PackedRecords
import org.sparkkinesis.suite.PropertySuite

class ChunkBuilderSuite extends PropertySuite {
  private def plain(
      number: Int,
      data: String,
      key: String = "k",
      encryption: String = null,
      arrival: Long = 0
  ): KinesisRecord =
    new KinesisRecord(number.toString, key, arrival, data.getBytes("UTF-8"), encryption)
  private def container(number: Int, users: User*): KinesisRecord =
    new KinesisRecord(number.toString, "a", number.toLong, Containers.of(users: _*), null)
  private def build(settings: DecodeSettings, records: KinesisRecord*): IndexedSeq[Chunk] =
    new ChunkBuilder(settings, None, new ConsumerMetrics).build(records.toVector, 7)
  private def text(chunk: Chunk, row: Int): String = new String(chunk.data(row), "UTF-8")
  private def rows(chunks: Seq[Chunk]): Seq[(String, String, String, Long)] =
    chunks.flatMap(c =>
      (0 until c.rows).map(r => (c.sequenceNumber(r).value, c.partitionKey(r), text(c, r), c.subSequenceNumber(r)))
    )

  test("plain records become rows with their keys, sequence numbers and arrival times") {
    val Seq(chunk) =
      build(
        DecodeSettings.of(Options.defaults),
        plain(10, "a", "k1", arrival = 5),
        plain(11, "bb", "ключ", arrival = 3)
      ): @unchecked
    assert(rows(Seq(chunk)) == Seq(("10", "k1", "a", 0L), ("11", "ключ", "bb", 0L)))
    assert(chunk.summary == ChunkSummary(SequenceNumber("11"), 2, 3 + 2 + 8, 5, 5, 3, 7))
    assert(chunk.firstSequenceNumber == SequenceNumber("10"))
    assert(!chunk.aggregated(0) && chunk.encryptionType(0) == null && chunk.explicitHashKey(0) == null)
    assert(
      new String(chunk.keyBytes, chunk.keyStart(1), chunk.keyLength(1), "UTF-8") ==
        "ключ"
    )
  }

  test("the payload is not copied") {
    val record = plain(1, "data")
    assert(build(DecodeSettings.of(Options.defaults), record).head.data(0) eq record.data)
  }

  test("a chunk spans at most the maximum time between arrivals") {
    val records = Seq(0, 10, 40, 41, 95, 60, 141).zipWithIndex.map { case (at, i) =>
      plain(i, "x", arrival = at.toLong)
    }
    val built = build(DecodeSettings.of(Options.defaults).copy(maxChunkMillis = 40), records: _*)
    assert(built.map(_.rows) == Vector(3, 1, 2, 1))
    assert(rows(built) == rows(build(DecodeSettings.of(Options.defaults), records: _*)))
  }

  test("a record without a partition key has a null key") {
    val chunk = build(DecodeSettings.of(Options.defaults), plain(1, "a", null), plain(2, "b")).head
    assert(chunk.keyLength(0) == -1)
    assert(chunk.partitionKey(0) == null)
    assert(chunk.partitionKey(1) == "k")
  }

  test("without records there is no chunk") {
    assert(build(DecodeSettings.of(Options.defaults)) == IndexedSeq.empty[Chunk])
  }

  test("a chunk can be cut within an aggregate, but not within a record that was not opened") {
    val records = Seq(plain(1, "p"), container(2, User("x", "a"), User("y", "b"), User("x", "c")), plain(3, "q"))
    val chunk = build(DecodeSettings.of(Options.defaults), records: _*).head
    val closed = build(DecodeSettings.of(Options.defaults).copy(deaggregate = false), records: _*).head
    def last(number: Int, sub: Int) = UserRecord(SequenceNumber(number.toString), sub.toLong)
    def texts(part: Option[Chunk]) = rows(part.toSeq).map(_._3).mkString
    assert(texts(chunk.after(last(2, 0))) == "bcq")
    assert(texts(chunk.after(last(2, 2))) == "q")
    assert(texts(chunk.after(last(1, 0))) == "pabcq")
    assert(texts(chunk.upTo(last(2, 1))) == "pab")
    assert(texts(chunk.upTo(last(2, 9))) == "pabc")
    assert(texts(chunk.at(SequenceNumber("2"))) == "abcq")
    assert(texts(chunk.at(SequenceNumber("4"))) == "")
    assert(texts(chunk.drop(4)) == "q" && texts(chunk.drop(5)) == "")
    assert(closed.after(last(2, 0)).map(_.rows).contains(2), "an aggregate that is not opened would be lost")
  }

  test("records of an aggregate share a sequence number and have sub-sequence numbers") {
    val chunks = build(
      DecodeSettings.of(Options.defaults),
      plain(1, "p"),
      container(2, User("x", "a"), User("y", "b", Some("17")), User("x", "c")),
      plain(3, "q", encryption = "KMS")
    )
    assert(
      rows(chunks) ==
        Seq(("1", "k", "p", 0L), ("2", "x", "a", 0L), ("2", "y", "b", 1L), ("2", "x", "c", 2L), ("3", "k", "q", 0L))
    )
    val chunk = chunks.head
    assert((0 to 4).map(chunk.aggregated) == Seq(false, true, true, true, false))
    assert((0 to 4).map(chunk.explicitHashKey) == Seq(null, null, "17", null, null))
    assert((0 to 4).map(chunk.encryptionType) == Seq(null, null, null, null, "KMS"))
  }

  test("without de-aggregation an aggregate is one row with its bytes") {
    val record = container(1, User("x", "a"), User("y", "b"))
    val chunk = build(DecodeSettings.of(Options.defaults).copy(deaggregate = false), record).head
    assert(chunk.rows == 1)
    assert(chunk.data(0) eq record.data)
  }

  test("chunks are split between records by rows and by bytes") {
    val records = (1 to 10).map(plain(_, "x" * 9, "k"))
    assert(build(DecodeSettings.of(Options.defaults).copy(maxChunkRows = 4), records: _*).map(_.rows) ==
      IndexedSeq(4, 4, 2))
    assert(build(DecodeSettings.of(Options.defaults).copy(maxChunkBytes = 35), records: _*).map(_.rows) ==
      IndexedSeq(3, 3, 3, 1))
  }

  test("splitting into chunks never splits an aggregate and neither loses nor changes a row") {
    val sizes = Gen.nonEmptyListOf(Gen.choose(0, 6))
    forAll(sizes, Gen.choose(1, 5), Gen.choose(1, 60)) { (sizes, maxRows, maxBytes) =>
      val records = sizes.zipWithIndex.map {
        case (0, i) => plain(i + 10, s"plain$i")
        case (n, i) => container(i + 10, (1 to n).map(j => User(s"k$j", s"$i/$j")): _*)
      }
      val whole = build(DecodeSettings.of(Options.defaults), records: _*)
      val cut = build(DecodeSettings.of(Options.defaults).copy(maxRows, maxBytes), records: _*)
      assert(rows(cut) == rows(whole))
      assert(cut.map(_.bytes).sum == whole.map(_.bytes).sum)
      val ends = cut.map(_.lastSequenceNumber.value)
      assert(ends.distinct == ends)
      cut.foreach { chunk =>
        val single = chunk.firstSequenceNumber == chunk.lastSequenceNumber
        assert(
          single || (chunk.rows <= maxRows && chunk.bytes <= maxBytes),
          s"${chunk.rows} rows, ${chunk.bytes} bytes"
        )
      }
    }
  }

  test("packed records give the same chunks as records, with and without aggregates") {
    val kinds = Gen.frequency(30 -> Gen.const(0), 1 -> Gen.choose(1, 6))
    forAll(Gen.listOf(kinds), Gen.choose(1, 5), Gen.choose(1, 60)) { (sizes, maxRows, maxBytes) =>
      val records = sizes.zipWithIndex.map {
        case (0, i) => plain(i + 10, s"plain$i", s"k$i", encryption = if (i % 7 == 0) "KMS" else null, arrival = i % 5L)
        case (n, i) => container(i + 10, (1 to n).map(j => User(s"k$j", s"$i/$j")): _*)
      }
      Seq(
        DecodeSettings.of(Options.defaults),
        DecodeSettings.of(Options.defaults).copy(maxRows, maxBytes),
        DecodeSettings.of(Options.defaults).copy(maxRows, maxBytes, deaggregate = false),
        DecodeSettings.of(Options.defaults).copy(maxChunkMillis = maxRows.toLong - 1)
      ).foreach { settings =>
        def built(of: IndexedSeq[KinesisRecord]): (IndexedSeq[(ChunkSummary, Seq[Any])], Seq[Long]) = {
          val metrics = new ConsumerMetrics
          val chunks = new ChunkBuilder(settings, None, metrics).build(of, 7)
          val encryption = chunks.map(chunk => (0 until chunk.rows).map(chunk.encryptionType))
          (
            chunks.map(chunk => (chunk.summary, rows(Seq(chunk)))).zip(encryption).map { case ((a, b), c) =>
              (a, b ++ c)
            },
            Seq(metrics.records, metrics.rows, metrics.bytes, metrics.aggregatedRecords).map(_.sum)
          )
        }
        assert(built(packed(records)) == built(records.toIndexedSeq))
      }
    }
  }

  test("plain packed records become chunks without copies of their columns") {
    val records = packed((1 to 10).map(plain(_, "x" * 9)))
    val chunks = new ChunkBuilder(
      DecodeSettings.of(Options.defaults).copy(maxChunkRows = 4),
      None,
      new ConsumerMetrics
    ).build(records, 0)
    assert(chunks.map(_.rows) == IndexedSeq(4, 4, 2))
    chunks.foreach(chunk => assert(chunk.columns.data eq records.segments.head.data))
  }

  private def packed(records: Seq[KinesisRecord]): PackedRecords = {
    val builder = new PackedRecords.Builder(records.size)
    records.foreach { record =>
      builder.sequenceNumbers.add(record.sequenceNumber)
      builder.keys.add(record.partitionKey)
      builder.data(record.data)
      builder.arrivalMillis(record.arrivalMillis)
      builder.encryptionType(record.encryptionType)
      builder.endRecord()
    }
    builder.result()
  }

  test("slicing at any sequence number divides the rows exactly there") {
    forAll(Gen.nonEmptyListOf(Gen.choose(0, 3)), Gen.choose(0, 40)) { (sizes, at) =>
      val records = sizes.zipWithIndex.map {
        case (0, i) => plain(i * 2 + 8, s"plain$i")
        case (n, i) => container(i * 2 + 8, (1 to n).map(j => User(s"k$j", s"$i/$j")): _*)
      }
      val chunk = build(DecodeSettings.of(Options.defaults), records: _*).head
      val number = SequenceNumber(at.toString)
      val before = chunk.upTo(number)
      val after = chunk.after(number)
      assert(rows(before.toSeq) ++ rows(after.toSeq) == rows(Seq(chunk)))
      assert(before.forall(_.lastSequenceNumber <= number))
      assert(after.forall(_.firstSequenceNumber > number))
      val parts = Seq(before, after).flatten
      assert(parts.map(_.retainedBytes - Chunk.OverheadBytes).sum == chunk.retainedBytes - Chunk.OverheadBytes)
    }
  }

  test(
    "the hash range filter drops and counts user records of other shards and keeps the sub-sequence numbers of the rest"
  ) {
    val metrics = new ConsumerMetrics
    val half = HashKeyRange(0, BigInt(1) << 127)
    val low = Some("1")
    val high = Some(HashKeyRange.Max.toString)
    val builder =
      new ChunkBuilder(DecodeSettings.of(Options.defaults).copy(hashRangeFilter = true), Some(half), metrics)
    val chunks = builder.build(
      Vector(
        container(1, User("x", "a", high), User("x", "b", low), User("x", "c", high), User("x", "d", low)),
        plain(2, "plain")
      ),
      0
    )
    assert(rows(chunks) == Seq(("1", "x", "b", 1L), ("1", "x", "d", 3L), ("2", "k", "plain", 0L)))
    assert(metrics.filteredRows.sum == 2L)
    // Without an explicit hash key, the hash key is the MD5 digest of the partition key: "a" is in the lower half, "k2"
    // is not.
    assert(half.contains(HashKey.ofPartitionKey("a")) && !half.contains(HashKey.ofPartitionKey("b1")))
    val byKey = builder.build(Vector(container(3, User("a", "1"), User("b1", "2"))), 0)
    assert(rows(byKey) == Seq(("3", "a", "1", 0L)))
  }

  test("metrics count records, rows and aggregates") {
    val metrics = new ConsumerMetrics
    new ChunkBuilder(
      DecodeSettings.of(Options.defaults),
      None,
      metrics
    ).build(Vector(plain(1, "a"), container(2, User("x", "1"), User("y", "2"))), 0)
    assert((metrics.records.sum, metrics.rows.sum, metrics.aggregatedRecords.sum) == (2L, 3L, 1L))
  }
}
