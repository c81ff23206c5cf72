package org.sparkkinesis.simulation.spark

import scala.concurrent.duration._

import org.apache.spark.TaskKilledException

import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.simulation.common.{ProcessKilled, QueryThread, SimulatedProcess, SimulatedTime}
import org.sparkkinesis.spark.executor.LiveFeedFailed

/**
 * Runs the tasks of a real-time batch at the same time, in turn and some rows at a time. A task that fails or loses its
 * executor runs again until the same end; its rows so far come again. As in Spark, only failures count as attempts: a
 * lost executor and a killed task do not.
 *
 * @param onMove
 *   called for each task that does not run in the executor that read its shards before, with the number of shards
 * @param onFailure
 *   called for each task that runs again
 */
final class LiveTasks(
    time: SimulatedTime,
    driver: SimulatedProcess,
    executors: () => Seq[SimulatedExecutor],
    settings: TaskSettings,
    random: scala.util.Random,
    thread: QueryThread,
    onMove: Int => Unit,
    onFailure: () => Unit
) {
  import LiveTasks._
  private var attempts = 0L

  /** Returns the rows of the last attempt of each task, and its end. */
  def runAll(partitions: Seq[LivePartition], endMillis: Long): Seq[(Vector[ReadRow], Long)] = {
    val tasks = partitions.map(new Task(_, endMillis))
    val pause = ((endMillis - time.nowMillis) / TurnsOfBatch).max(1).millis
    try {
      while (tasks.exists(_.done.isEmpty)) {
        tasks.filter(_.done.isEmpty).foreach { task =>
          driver.step()
          task.takeTurn()
          thread.check()
        }
        if (tasks.exists(_.done.isEmpty)) {
          time.waitFor(pause)(thread.isInterrupted || !driver.isAlive)
          driver.check()
          thread.check()
        }
      }
      tasks.flatMap(_.done)
    } finally tasks.foreach(_.close())
  }

  final private class Task(partition: LivePartition, endMillis: Long) {
    private var failures = 0
    private var current = Option.empty[(SimulatedExecutor, LiveReading)]
    private val rows = Vector.newBuilder[ReadRow]
    var done: Option[(Vector[ReadRow], Long)] = None

    def takeTurn(): Unit =
      try {
        val (executor, reading) = current.getOrElse(start())
        executor.process.step()
        var left = random.nextInt(MostRowsOfTurn)
        var row = nextRow(reading)
        while (row.nonEmpty) {
          rows ++= row
          left -= 1
          row = if (left > 0) nextRow(reading) else None
        }
        if (time.nowMillis >= endMillis || reading.isEnded) {
          val end = reading.deliverEnd()
          close()
          if (random.nextInt(100) >= settings.failPercent || isLastAttempt) done = Some(rows.result() -> end)
          else failed()
        }
      } catch {
        case _: ProcessKilled if driver.isAlive && current.forall(!_._1.process.isAlive) => again()
        case _: TaskKilledException => again()
        case _: LiveFeedFailed if !isLastAttempt => failed()
        case error: KinesisConnectorException
            if error.condition == Undelivered && driver.isAlive && !isLastAttempt => failed()
      }

    /** Whether a failure of this attempt ends the query. */
    private def isLastAttempt: Boolean = failures + 1 >= settings.attempts

    private def failed(): Unit = {
      failures += 1
      again()
    }

    def close(): Unit = {
      current.filter(_._1.process.isAlive).foreach(_._2.close())
      current = None
    }

    private def nextRow(reading: LiveReading): Option[ReadRow] =
      if (time.nowMillis >= endMillis) None else reading.next()

    private def again(): Unit = {
      onFailure()
      close()
      rows.clear()
    }

    private def start(): (SimulatedExecutor, LiveReading) = {
      time.waitFor(LongestWait)(executors().nonEmpty || !driver.isAlive || thread.isStopped)
      driver.check()
      val present = executors()
      if (present.isEmpty) throw new InterruptedException("no executor is left")
      val local = present.filter(executor => partition.preferred.contains(executor.name))
      val executor =
        if (local.nonEmpty && random.nextInt(100) >= settings.elsewherePercent) local.head
        else present(random.nextInt(present.size))
      if (partition.preferred.nonEmpty && !partition.preferred.contains(executor.name)) onMove(partition.shards)
      attempts += 1
      val started = (executor, partition.open(executor, attempts))
      current = Some(started)
      started
    }
  }
}

private object LiveTasks {
  val LongestWait: FiniteDuration = 30.minutes

  /** The error of a task whose end did not reach the driver. */
  val Undelivered = "KINESIS_REAL_TIME_DRIVER_UNREACHABLE"

  /** The number of times in a batch at which a task reads what is there. */
  val TurnsOfBatch = 40

  /** A task that takes few rows in its turn is like a slow sink, and its batch ends in the middle of anything. */
  val MostRowsOfTurn = 60
}
