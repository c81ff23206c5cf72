package org.sparkkinesis.simulation.write.task

import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.Random

import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.simulation.common.{SimulatedThread, SimulatedThreads}
import org.sparkkinesis.simulation.write.schedule._

/** A micro-batch: the rows of each task. */
final case class WriteBatch(number: Int, tasks: Vector[Vector[WriteRow]])

/** Creates an attempt of a task; the callback receives its end. */
trait AttemptMaker {
  def apply(
      partition: Int,
      rows: Vector[WriteRow],
      routing: Option[TaskRouting],
      ended: (WriteAttempt, AttemptEnd) => Unit
  ): WriteAttempt
}

/** The driver's part of a write to a logical stream. */
trait RoutePlanner {

  /** Returns the routes of a micro-batch; empty if the driver was killed. */
  def plan(batch: Int): Option[TaskRouting]

  /** Ends this run of the query. */
  def end(): Unit
}

/**
 * Spark's part of a streaming write. It writes one batch after the other as tasks with retries and speculation. A
 * batch that fails is written again after the query has restarted. Runs on its own simulated thread.
 *
 * @param planner
 *   plans the routes, if the rows go to a logical stream
 */
final class WriteQuery(
    setup: WriteSetup,
    threads: SimulatedThreads,
    random: Random,
    make: AttemptMaker,
    planner: Option[RoutePlanner],
    failed: Throwable => Unit,
    trace: (=> String) => Unit
) {
  import WriteQuery._

  private val waiting = mutable.Queue.empty[WriteBatch]
  private var thread: SimulatedThread = null
  private var running = Vector.empty[WriteAttempt]
  private var restarts = false
  private var done = 0

  def start(): Unit = thread = threads.start("query")(run())

  def add(batch: WriteBatch): Unit = {
    waiting += batch
    thread.wake()
  }

  def committed: Int = done
  def isIdle: Boolean = waiting.isEmpty

  /** The running attempts. */
  def attempts: Vector[WriteAttempt] = running

  /** Ends all tasks. The batch is written again later. */
  def restart(): Unit = {
    restarts = true
    thread.wake()
  }

  private def run(): Unit = while (true) {
    while (waiting.isEmpty) thread.park()
    restarts = false
    if (write(waiting.head)) {
      trace(s"batch ${waiting.head.number} is committed")
      waiting.dequeue()
      done += 1
    } else {
      planner.foreach(_.end())
      threads.sleep(RestartPause)
    }
  }

  /** Writes a batch. Returns whether it was committed. */
  private def write(batch: WriteBatch): Boolean = planner match {
    case None => write(batch, None)
    case Some(plans) =>
      try plans.plan(batch.number).exists(routing => write(batch, Some(routing)))
      catch {
        case unplanned: KinesisConnectorException =>
          failed(unplanned)
          false
      }
  }

  private def write(batch: WriteBatch, routing: Option[TaskRouting]): Boolean = {
    val committed = mutable.Set.empty[Int]
    val failures = mutable.HashMap.empty[Int, Int].withDefaultValue(0)
    var isFatal = false

    def start(partition: Int): Unit = {
      val attempt = make(partition, batch.tasks(partition), routing, ended)
      running :+= attempt
      attempt.start()
      val speculates = random.nextInt(100) < setup.speculationPercent
      if (speculates) threads.start("speculation") {
        threads.sleep((1 + random.nextInt(5000)).millis)
        if (!isFatal && !restarts && !attempt.isOver && running.count(_.partition == partition) == 1) start(partition)
      }
      ()
    }

    def ended(attempt: WriteAttempt, end: AttemptEnd): Unit = {
      running = running.filterNot(_ eq attempt)
      end match {
        case AttemptEnd.Committed =>
          committed += attempt.partition
          running.filter(_.partition == attempt.partition).foreach(_.kill())
        case AttemptEnd.Failed(error) =>
          failed(error)
          failures(attempt.partition) += 1
          if (failures(attempt.partition) == MaxFailures) isFatal = true
        case AttemptEnd.Killed => ()
      }
      thread.wake()
    }

    while (!isFatal && !restarts && committed.size < batch.tasks.size) {
      batch.tasks.indices.filterNot(committed).filterNot(partition => running.exists(_.partition == partition))
        .foreach(start)
      thread.park()
    }
    running.foreach(_.kill())
    while (running.nonEmpty) thread.park()
    committed.size == batch.tasks.size
  }
}

object WriteQuery {

  /** The value of `spark.task.maxFailures`. */
  val MaxFailures = 4
  private val RestartPause = 1.second
}
