package org.sparkkinesis.simulation.spark

import scala.concurrent.duration._

import org.sparkkinesis.simulation.common.{QueryThread, SimulatedProcess, SimulatedTime}

/** The methods of a source in real-time mode that Spark calls. Offsets are the texts of the offset log. */
trait RealTimeSource {
  def initialOffset(): String
  def partitions(start: String): Seq[LivePartition]

  /**
   * Returns the end of a batch.
   *
   * @param ends
   *   what the attempts of tasks that have succeeded returned as their ends
   */
  def merge(ends: Seq[Long]): String
}

/** The shards that one task of a real-time batch reads. */
trait LivePartition {
  def preferred: Seq[String]

  /** The number of shards that the task reads when it begins. */
  def shards: Int

  /** @param attempt higher than those of earlier attempts */
  def open(executor: SimulatedExecutor, attempt: Long): LiveReading
}

/** One attempt of a task, which never blocks. */
trait LiveReading {

  /** Whether the batch ended early for this task. */
  def isEnded: Boolean

  /** Returns the next row, if there is one now. */
  def next(): Option[ReadRow]

  /** Sends the positions to the driver. Returns the name by which it finds them. */
  def deliverEnd(): Long
  def close(): Unit
}

/**
 * One run of a query in real-time mode, like Spark's: the tasks read until the time of the batch is over, and then the
 * end of the batch is written to the offset log and the commit log. At a start, Spark removes a batch that is in the
 * offset log only, and plans it anew. For the outermost thread.
 *
 * @param millis
 *   length of a batch
 */
final class RealTimeExecution(
    time: SimulatedTime,
    driver: SimulatedProcess,
    checkpoint: CheckpointFolder,
    source: RealTimeSource,
    millis: Long,
    tasks: LiveTasks,
    sink: BatchSink,
    thread: QueryThread,
    trace: (=> String) => Unit
) {
  private var batch = 0L
  private var committed = Option.empty[String]

  /** Returns when the query is stopped. */
  def run(): Unit = {
    recover()
    while (!thread.isStopped) runBatch()
  }

  private def recover(): Unit = {
    val last = checkpoint.latest("commits").map(_._1)
    batch = last.fold(0L)(_ + 1)
    committed = last.flatMap(id => checkpoint.read(s"offsets/$id"))
    checkpoint.latest("offsets").filter(_._1 >= batch).foreach { case (dropped, _) =>
      checkpoint.delete(driver)(s"offsets/$dropped")
      sink.onBatchDropped(dropped)
    }
  }

  private def runBatch(): Unit = {
    check()
    val start = committed.getOrElse(source.initialOffset())
    val done = tasks.runAll(source.partitions(start), time.nowMillis + millis)
    check()
    val end = source.merge(done.map(_._2))
    trace(s"end of batch $batch: $end")
    try checkpoint.write(driver, time.nowMillis)(s"offsets/$batch", end)
    finally if (checkpoint.read(s"offsets/$batch").nonEmpty) {
        sink.onBatchHanded(batch, done.flatMap(_._1).toVector)
        sink.onBatchLogged()
      }
    try checkpoint.write(driver, time.nowMillis)(s"commits/$batch", "{}")
    finally if (checkpoint.read(s"commits/$batch").nonEmpty) sink.onBatchCommitted(batch)
    committed = Some(end)
    batch += 1
    // Commit, planning and start of the tasks take time.
    time.waitFor(RealTimeExecution.Boundary)(thread.isStopped || !driver.isAlive)
    check()
  }

  /** Throws if the query is being stopped, as an interrupt does. */
  private def check(): Unit = {
    driver.check()
    thread.check()
  }
}

private object RealTimeExecution {
  val Boundary: FiniteDuration = 200.millis
}
