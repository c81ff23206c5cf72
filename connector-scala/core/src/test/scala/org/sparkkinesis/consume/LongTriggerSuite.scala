package org.sparkkinesis.consume

import scala.concurrent.duration._

import org.sparkkinesis.consume.spill.{MemoryFiles, SizesOfFiles}
import org.sparkkinesis.event.{RecordedEvents, SpillFailed, SpillStarted}
import org.sparkkinesis.model.KinesisQuotas.Shard.ReadBytesPerSecond
import org.sparkkinesis.suite.TimedSuite

class LongTriggerSuite extends TimedSuite {
  override protected def timeLimit: FiniteDuration = 1.minute

  /** The part of the shards' read quota that the batches of a query take, after the first one. */
  private def keptUp(taken: Seq[Long], shards: Int, interval: FiniteDuration): Double =
    taken.tail.sum.toDouble / (taken.size - 1) / (ReadBytesPerSecond.toDouble * shards * interval.toMillis / 1000)

  for {
    (shards, buffer) <- Seq(1 -> (8L << 20), 2 -> (8L << 20), 2 -> (64L << 20), 10 -> (64L << 20))
    interval <- if (shards > 2) Seq(1.second, 5.seconds) else Seq(1.second, 15.seconds, 60.seconds)
  } test(s"$shards shards are read at their quota with a buffer of ${buffer >> 20} MiB and a batch each $interval") {
    val reading = new TriggeredReading(shards, buffer, 4L << 30, new MemoryFiles)
    val taken = reading.run(if (interval > 15.seconds) 4 else 8, interval)
    assert(keptUp(taken, shards, interval) >= 0.95, taken)
    assert(taken.tail.min >= taken.tail.max * 0.9, s"the batches alternate: $taken")
    assert(reading.mostBytes <= buffer, s"${reading.mostBytes} bytes in memory")
    assert(reading.stream.servedBytes <= taken.sum + shards * 4L * ReadBytesPerSecond, "nothing is fetched twice")
  }

  test("what memory knows of the records in files leaves room for more records") {
    val reading = new TriggeredReading(1, 8L << 20, 64L << 30, SizesOfFiles)
    val taken = reading.run(4, 10.minutes, reads = false)
    assert(keptUp(taken, 1, 10.minutes) >= 0.95, taken)
    assert(reading.mostBytes <= (8L << 20), s"${reading.mostBytes} bytes in memory")
  }

  test("files are written only while memory is full, and deleted when their records are released") {
    val files = new MemoryFiles
    val short = new TriggeredReading(2, 64L << 20, 4L << 30, files)
    short.run(8, 3.seconds)
    assert(files.written == 0)
    val long = new TriggeredReading(2, 64L << 20, 4L << 30, files)
    val taken = long.run(4, 60.seconds)
    assert(files.written > taken.sum / 2 && files.written < taken.sum)
    assert(files.count > 0)
  }

  test("a full disk or none gives what memory can hold") {
    for (disk <- Seq(0L, 16L << 20)) {
      val reading = new TriggeredReading(2, 8L << 20, disk, new MemoryFiles)
      val taken = reading.run(8, 15.seconds)
      assert(taken.forall(_ <= (8L << 20) + disk + (2L << 20)), taken)
      assert(taken.exists(_ > 0) && reading.mostBytes <= (8L << 20), taken)
    }
  }

  test("a failed write is told and not repeated at once, and files are used again when there is space") {
    val files = new MemoryFiles
    files.isFull = true
    val events = new RecordedEvents
    val reading = new TriggeredReading(2, 8L << 20, 4L << 30, files, events = events)
    reading.run(4, 15.seconds)
    assert(files.written == 0 && events.of[SpillStarted].isEmpty)
    assert(events.of[SpillFailed].map(_.reason) == Vector("java.io.IOException: No space left on device"))
    files.isFull = false
    val taken = reading.run(10, 15.seconds)
    assert(keptUp(taken.drop(5), 2, 15.seconds) >= 0.95, taken)
    assert(events.of[SpillStarted].size == 1 && events.of[SpillFailed].size <= 2)
  }

  test("the space that is free limits the files too") {
    val files = new MemoryFiles
    files.diskBytes = 20L << 20
    val reading = new TriggeredReading(1, 8L << 20, 4L << 30, files)
    val small = reading.run(4, 60.seconds)
    // A second passes between two looks at the disk.
    assert(small.forall(_ <= (8L << 20) + (10L << 20) + 2 * ReadBytesPerSecond), small)
    files.diskBytes = 4L << 30
    assert(keptUp(reading.run(4, 60.seconds).tail, 1, 60.seconds) >= 0.95, "space is used when there is some again")
  }

  test("a write that fails leaves no file behind") {
    val files = new MemoryFiles
    files.isFull = true
    new TriggeredReading(2, 8L << 20, 4L << 30, files).run(4, 15.seconds)
    assert(files.count == 0)
  }
}
