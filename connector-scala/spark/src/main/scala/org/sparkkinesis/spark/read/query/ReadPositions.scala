package org.sparkkinesis.spark.read.query

import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.sparkkinesis.event.PositionNotStored
import org.sparkkinesis.plan.offset.SourceOffset
import org.sparkkinesis.spark.connection.Environment
import org.sparkkinesis.spark.session.StreamSession
import org.sparkkinesis.spark.session.checkpoint.{CheckpointFiles, ReadUpToStore}

/**
 * Stores in the checkpoint how far a query has read beyond its last batch, because the next run may start much later.
 * For the query's thread.
 */
final private[query] class ReadPositions(session: StreamSession, files: CheckpointFiles, environment: Environment) {
  import ReadPositions._
  import environment.clock

  private lazy val store = new ReadUpToStore(files)
  private var notedNanos = clock.nanoTime - NotePeriod.toNanos

  /** Returns the offset with the positions that were stored for it. */
  def of(offset: SourceOffset): SourceOffset = store.of(offset)

  /** Stores positions beyond an offset, but none without a time: it would hide that records have expired. */
  def note(offset: SourceOffset, settled: SourceOffset): Unit = if (settled.isTimed) store.note(offset, settled)

  /**
   * Stores positions if the last time is long enough ago, or if they are the last ones of this run: Spark asks every
   * few milliseconds, and there may be thousands of shards.
   */
  def noteAtTimes(offset: SourceOffset, isLast: Boolean)(settled: => SourceOffset): Unit =
    if (isLast || clock.nanoTime - notedNanos >= NotePeriod.toNanos) {
      notedNanos = clock.nanoTime
      note(offset, settled)
    }

  /** Stores positions when the query stops. A failure is reported and does not prevent the stop. */
  def noteAtStop(offset: SourceOffset)(settled: => SourceOffset): Unit =
    try note(offset, settled)
    catch { case NonFatal(failure) => session.events.emit(PositionNotStored(failure)) }
}

private[query] object ReadPositions {

  /** Interval at which the read position of idle shards is stored. */
  val NotePeriod: FiniteDuration = 1.minute
}
