package org.sparkkinesis.spark.read.query

import scala.concurrent.duration._

import org.sparkkinesis.event.PositionNotStored
import org.sparkkinesis.plan.offset.SourceOffset
import org.sparkkinesis.spark.session.SessionFixture
import org.sparkkinesis.spark.session.checkpoint.{CheckpointFiles, MemoryFiles}

class ReadPositionsSuite extends SessionFixture {
  final private class Rig(files: CheckpointFiles = new MemoryFiles)
      extends SessionRig(Seq("orders"), failOnDataLoss = true, Map.empty) {
    val positions = new ReadPositions(session, files, environment)
  }
  private def readUntil(millis: Long) = SourceOffset(Seq(stream("orders", Created, 0 -> readUpTo(millis))))

  test("the position at the stop is read by the next run, and only for the same offset") {
    val files = new MemoryFiles
    val (offset, settled) = (readUntil(ago(2.hours)), readUntil(ago(1.hour)))
    new Rig(files).positions.noteAtStop(offset)(settled)
    val next = new Rig(files).positions
    assert(next.of(offset) == settled && next.of(settled) == settled)
    assert(next.of(readUntil(ago(3.hours))) == readUntil(ago(3.hours)))
  }

  test("positions are stored at most once per period, and always when they are the last ones") {
    val rig = new Rig
    val offset = readUntil(ago(2.hours))
    def note(settled: SourceOffset, isLast: Boolean): SourceOffset = {
      rig.positions.noteAtTimes(offset, isLast)(settled)
      rig.positions.of(offset)
    }
    val times = (50 to 10 by -10).map(minutes => readUntil(ago(minutes.minutes)))
    assert(note(times.head, isLast = false) == times.head)
    assert(note(times(1), isLast = false) == times.head)
    rig.time.advance(ReadPositions.NotePeriod)
    assert(note(times(2), isLast = false) == times(2))
    assert(note(times(3), isLast = true) == times(3))
  }

  test("a checkpoint that cannot be written when the query stops does not prevent the stop") {
    val failure = new IllegalStateException("the file system is read-only")
    val readOnly = new CheckpointFiles {
      override def read(name: String): Option[String] = None
      override def write(name: String, text: String): Unit = throw failure
      override def delete(name: String): Unit = throw failure
      override def names(prefix: String): Set[String] = Set.empty
      override def startedMillis: Option[Long] = None
    }
    val rig = new Rig(readOnly)
    rig.positions.noteAtStop(readUntil(ago(2.hours)))(readUntil(ago(1.hour)))
    assert(rig.environment.recorded.of[PositionNotStored] == Vector(PositionNotStored(failure)))
  }
}
