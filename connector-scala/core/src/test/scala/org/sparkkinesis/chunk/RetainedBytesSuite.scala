package org.sparkkinesis.chunk

import org.openjdk.jol.info.GraphLayout

import org.sparkkinesis.aggregate.Containers
import org.sparkkinesis.config.Options
import org.sparkkinesis.event.ConsumerMetrics
import org.sparkkinesis.model.KinesisRecord
import org.sparkkinesis.model.packed.PackedRecords
import org.sparkkinesis.suite.TimedSuite

class RetainedBytesSuite extends TimedSuite {
  private val number = "49674026002850188218576229259473476449429298564223254594"

  private def plain(count: Int, payload: Int, key: String): Seq[KinesisRecord] = (0 until count).map { i =>
    new KinesisRecord(number.dropRight(4) + f"$i%04d", key, 1_700_000_000_000L + i, new Array[Byte](payload), null)
  }

  private def aggregates(count: Int, users: Int): Seq[KinesisRecord] = (0 until count).map { i =>
    val data = Containers.of((0 until users).map(u => Containers.User(s"key-$u", "x" * 100)): _*)
    new KinesisRecord(number.dropRight(4) + f"$i%04d", "a", 1_700_000_000_000L + i, data, null)
  }

  test("the retained bytes of a chunk differ from its memory by less than a third, for chunks of any size") {
    Seq(
      "one empty record" -> plain(1, 0, "k"),
      "one record of 100 bytes" -> plain(1, 100, "customer-7"),
      "three records of 20 bytes" -> plain(3, 20, "customer-7"),
      "a hundred records of 200 bytes" -> plain(100, 200, "customer-7"),
      "4,096 records of 10 bytes" -> plain(4096, 10, "customer-7"),
      "one record of a MiB" -> plain(1, 1 << 20, "customer-7"),
      "records with keys of 256 characters" -> plain(50, 30, "k" * 256),
      "aggregates" -> aggregates(10, 50)
    ).foreach { case (records, made) =>
      val chunks = build(made.toVector)
      check(records, chunks)
      check(s"$records, packed", build(pack(made, made.size)))
      check(s"$records, packed, of which too many were expected", build(pack(made, 5000)))
    }
  }

  private def build(records: IndexedSeq[KinesisRecord]): IndexedSeq[Chunk] =
    new ChunkBuilder(DecodeSettings.of(Options.defaults), None, new ConsumerMetrics).build(records, 0)

  private def check(records: String, chunks: IndexedSeq[Chunk]): Unit = {
    val counted = chunks.map(_.retainedBytes).sum
    val taken = GraphLayout.parseInstance(chunks.toArray: _*).totalSize
    assert(counted > taken * 2 / 3 && counted < taken * 4 / 3, s"$records: $counted bytes counted, $taken taken")
  }

  private def pack(records: Seq[KinesisRecord], expectedRows: Int): IndexedSeq[KinesisRecord] = {
    val builder = new PackedRecords.Builder(expectedRows)
    records.foreach { record =>
      builder.sequenceNumbers.add(record.sequenceNumber)
      builder.keys.add(record.partitionKey)
      builder.data(record.data)
      builder.arrivalMillis(record.arrivalMillis)
      builder.endRecord()
    }
    builder.result()
  }
}
