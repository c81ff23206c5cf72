package org.sparkkinesis.spark.read.reader

import java.util.concurrent.CancellationException

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow

import org.sparkkinesis.aggregate.Containers.User
import org.sparkkinesis.chunk.Chunk
import org.sparkkinesis.consume.RangeEnd
import org.sparkkinesis.consume.spill.{ChunkInMemory, HeldChunk, MemoryFiles, Spilled}
import org.sparkkinesis.event.ConsumerMetrics
import org.sparkkinesis.model.{SequenceNumber, ShardId, StartingPosition, StreamShard}
import org.sparkkinesis.plan.ShardRange
import org.sparkkinesis.spark.read.reader.TestChunks._
import org.sparkkinesis.spark.settings.KinesisSchema
import org.sparkkinesis.suite.TimedSuite

class RangesReaderSuite extends TimedSuite {
  private def range(shard: Int, stream: String = "orders"): ShardRange = ShardRange(
    StreamShard(s"arn:$stream", ShardId.ofIndex(shard.toLong)),
    stream,
    StartingPosition.TrimHorizon,
    RangeEnd.At(SequenceNumber("99")),
    None
  )

  /** A task whose ranges are partly in memory. It records what is read from the service and what is closed. */
  final private class Rig(ranges: ShardRange*) {
    val inMemory: mutable.Map[ShardRange, Seq[Chunk]] = mutable.HashMap.empty
    val inFiles: mutable.Map[ShardRange, Seq[HeldChunk]] = mutable.HashMap.empty
    val inService: mutable.Map[ShardRange, Iterator[Chunk]] = mutable.HashMap.empty
    val events: mutable.ArrayBuffer[String] = mutable.ArrayBuffer.empty

    private def direct(range: ShardRange, metrics: ConsumerMetrics): Iterator[Chunk] with AutoCloseable = {
      events += s"open ${range.shard.shard}"
      metrics.getRecordsCalls.add(3)
      metrics.throttles.add(2)
      metrics.retries.add(1)
      new Iterator[Chunk] with AutoCloseable {
        private val chunks = inService(range)
        override def hasNext: Boolean = chunks.hasNext
        override def next(): Chunk = chunks.next()
        override def close(): Unit = events += s"close ${range.shard.shard}"
      }
    }

    val reader =
      new RangesReader(
        new RangesRead(
          ranges,
          range =>
            inMemory.get(
              range
            ).map(_.map(ChunkInMemory(_)).toIndexedSeq).orElse(inFiles.get(range).map(_.toIndexedSeq)),
          direct
        ),
        KinesisSchema.all
      )

    def metrics: Map[String, Long] = reader.currentMetricsValues().map(metric => metric.name() -> metric.value()).toMap
  }

  /** Returns stream, shard, sequence number and data of a row. */
  private def text(row: InternalRow): String =
    s"${row.getUTF8String(2)} ${row.getUTF8String(3)} ${row.getUTF8String(4)} ${new String(row.getBinary(1), "UTF-8")}"

  private def rows(reader: RangesReader): Seq[String] = {
    val found = mutable.ArrayBuffer.empty[String]
    while (reader.next()) reader.get().rowIterator().forEachRemaining(row => found += text(row))
    found.toSeq
  }

  private def id(shard: Int): String = ShardId.ofIndex(shard.toLong).value

  test("ranges are read one after the other, each row with its range's stream and shard") {
    val (first, second, third) = (range(0), range(1), range(0, stream = "clicks"))
    val rig = new Rig(first, second, third)
    rig.inMemory(first) = Seq(chunk(0, plain(1, "a"), plain(2, "b")), chunk(0, plain(3, "c")))
    rig.inService(second) = Iterator(chunk(0, plain(4, "d")), chunk(0, plain(5, "e")))
    rig.inMemory(third) = Seq(chunk(0, plain(6, "f")))
    assert(
      rows(rig.reader) == Seq(
        s"orders ${id(0)} 1 a",
        s"orders ${id(0)} 2 b",
        s"orders ${id(0)} 3 c",
        s"orders ${id(1)} 4 d",
        s"orders ${id(1)} 5 e",
        s"clicks ${id(0)} 6 f"
      )
    )
  }

  test("a range in memory needs no service call; another range is read from the service and closed at its end") {
    val rig = new Rig(range(0), range(1), range(2))
    rig.inService(range(0)) = Iterator(chunk(0, plain(1, "a")))
    rig.inMemory(range(1)) = Seq(chunk(0, plain(2, "b")))
    rig.inService(range(2)) = Iterator(chunk(0, plain(3, "c")))
    assert(rows(rig.reader).size == 3)
    assert(rig.events == Seq(s"open ${id(0)}", s"close ${id(0)}", s"open ${id(2)}"))
    rig.reader.close()
    assert(rig.events.last == s"close ${id(2)}" && rig.events.size == 4)
  }

  test("a range in memory whose first records are missing is read from the service, which reports them as lost") {
    def whole = chunk(0, plain(1, "a", arrival = 1000), plain(2, "b", arrival = 2000))
    Seq(1000L -> Nil, 999L -> Seq(s"open ${id(0)}")).foreach { case (planned, read) =>
      val one = range(0).copy(firstArrivalMillis = Some(planned))
      val rig = new Rig(one)
      rig.inMemory(one) = Seq(whole)
      rig.inService(one) = Iterator(whole)
      assert(rows(rig.reader).size == 2)
      assert(rig.events.take(1) == read)
    }
  }

  test("empty ranges are skipped at the beginning, in the middle and at the end") {
    val rig = new Rig(range(0), range(1), range(2), range(3))
    rig.inMemory(range(0)) = Nil
    rig.inService(range(1)) = Iterator(chunk(0, plain(1, "a")))
    rig.inService(range(2)) = Iterator.empty
    rig.inMemory(range(3)) = Nil
    assert(rows(rig.reader) == Seq(s"orders ${id(1)} 1 a"))
    assert(!rig.reader.next())
  }

  test("closing a task in the middle of a range closes the range and opens no other") {
    val rig = new Rig(range(0), range(1))
    rig.inService(range(0)) = Iterator(chunk(0, plain(1, "a")), chunk(0, plain(2, "b")))
    assert(rig.reader.next())
    rig.reader.close()
    assert(rig.events == Seq(s"open ${id(0)}", s"close ${id(0)}"))
    rig.reader.close()
    assert(rig.events.size == 2)
  }

  test("a failed read fails the task and is closed") {
    val rig = new Rig(range(0))
    rig.inService(range(0)) = new Iterator[Chunk] {
      override def hasNext: Boolean = throw new CancellationException("cut")
      override def next(): Chunk = fail("there is none")
    }
    assert(intercept[CancellationException](rig.reader.next()).getMessage == "cut")
    rig.reader.close()
    assert(rig.events == Seq(s"open ${id(0)}", s"close ${id(0)}"))
  }

  test("rows, bytes and aggregated rows are counted by source, and the calls of direct reads are summed") {
    val rig = new Rig(range(0), range(1), range(2))
    rig.inMemory(range(0)) = Seq(chunk(10, plain(1, "abc"), aggregate(2, User("x", "de"), User("y", "f"))))
    rig.inService(range(1)) = Iterator(chunk(40, plain(3, "gh")))
    rig.inService(range(2)) = Iterator(chunk(100, aggregate(4, User("z", "i"))))
    assert(rows(rig.reader).size == 5)
    assert(
      rig.metrics == Map(
        "rowsFromMemory" -> 3L,
        "rowsFromService" -> 2L,
        // Nine bytes of payload and one byte of partition key per row.
        "bytesRead" -> 14L,
        "aggregatedRows" -> 3L,
        "getRecordsCalls" -> 6L,
        "throttles" -> 4L,
        "retries" -> 2L,
        "minFetchedMsBehindLatest" -> 10L,
        "avgFetchedMsBehindLatest" -> 50L,
        "maxFetchedMsBehindLatest" -> 100L
      )
    )
  }

  test("a task that has read nothing reports no lag") {
    val rig = new Rig(range(0))
    rig.inMemory(range(0)) = Nil
    assert(!rig.reader.next())
    assert(rig.metrics.keySet.filter(_.endsWith("MsBehindLatest")).isEmpty)
    assert(rig.metrics("rowsFromMemory") == 0L)
  }

  test(
    "the row reader returns the same rows across chunks and ranges, and closes the same read"
  ) {
    val rig = new Rig(range(0), range(1))
    rig.inMemory(range(0)) = Seq(chunk(0, plain(1, "a"), plain(2, "b")), chunk(0, plain(3, "c")))
    rig.inService(range(1)) = Iterator(chunk(0, plain(4, "d")))
    val byRow = new RowReader(rig.reader)
    val found = Iterator.continually(byRow.next()).takeWhile(identity).map(_ => text(byRow.get())).toVector
    assert(found.map(_.takeRight(1)) == Vector("a", "b", "c", "d"))
    assert(byRow.currentMetricsValues().map(_.value()).toSeq == rig.reader.currentMetricsValues().map(_.value()).toSeq)
    byRow.close()
    assert(rig.events.last == s"close ${id(1)}")
  }

  test("records of local files are rows, and the rest of a range whose file is lost is read from the service") {
    val files = new MemoryFiles
    val whole = range(0).copy(firstArrivalMillis = Some(5))
    val chunks = (1 to 4).map(n => chunk(0, plain(n, s"row $n", arrival = 5)))
    val rig = new Rig(whole)
    rig.inFiles(whole) = Spilled.each(files, chunks)
    val rest = whole.copy(after = StartingPosition.AfterSequenceNumber(SequenceNumber("3")), firstArrivalMillis = None)
    rig.inService(rest) = Iterator(chunk(0, plain(4, "row 4 again")))
    val found = mutable.ArrayBuffer.empty[String]
    while (rig.reader.next()) {
      rig.reader.get().rowIterator().forEachRemaining(row => found += text(row))
      if (found.size == 3) files.wipe()
    }
    assert(found.map(_.split(" ", 4)(3)) == Seq("row 1", "row 2", "row 3", "row 4 again"))
    assert(rig.metrics("rowsFromMemory") == 3 && rig.metrics("rowsFromService") == 1)
    rig.reader.close()
    assert(rig.events == Seq(s"open ${id(0)}", s"close ${id(0)}"))
  }

  test("a range of which no record can be read from its files is read from the service as it is") {
    for (firstArrival <- Seq(None, Some(5L))) {
      val files = new MemoryFiles
      val whole = range(0).copy(firstArrivalMillis = firstArrival)
      val rig = new Rig(whole)
      rig.inFiles(whole) = Spilled.each(files, Seq(chunk(0, plain(1, "a", arrival = 5))))
      rig.inService(whole) = Iterator(chunk(0, plain(1, "again")))
      files.isDamaged = true
      assert(rows(rig.reader) == Seq(s"orders ${id(0)} 1 again"))
      assert(rig.events.size == 1)
    }
  }
}
