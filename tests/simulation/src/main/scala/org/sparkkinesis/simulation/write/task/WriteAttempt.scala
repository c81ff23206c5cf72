package org.sparkkinesis.simulation.write.task

import scala.concurrent.duration._
import scala.util.Random
import scala.util.control.NonFatal

import org.sparkkinesis.metadata.PhysicalStream
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.simulation.common.{ProcessKilled, SimulatedThread, SimulatedThreads, Violation}
import org.sparkkinesis.simulation.model.ModelKinesis
import org.sparkkinesis.simulation.write.schedule._
import org.sparkkinesis.sink.kinesis._
import org.sparkkinesis.sink.kinesis.put.SinkRecord
import org.sparkkinesis.sink.route.{Routes, StreamSelector}

/** The end of an attempt of a task. */
sealed trait AttemptEnd

object AttemptEnd {
  case object Committed extends AttemptEnd
  final case class Failed(error: Throwable) extends AttemptEnd

  /** The attempt was interrupted, or its executor was lost. */
  case object Killed extends AttemptEnd
}

/**
 * One attempt of a task. It writes its rows as a `DataWriter` does, on its own simulated thread.
 *
 * @param routing
 *   the routes of a write to a logical stream
 * @param failsAfter
 *   the row after which the task fails
 * @param ended
 *   receives the end once
 */
final class WriteAttempt(
    val number: Long,
    val partition: Int,
    rows: Vector[WriteRow],
    executor: WriterProcess,
    setup: WriteSetup,
    settings: KinesisSinkSettings,
    ledger: WriteLedger,
    threads: SimulatedThreads,
    strategies: StrategyFaults,
    routing: Option[TaskRouting],
    random: Random,
    failsAfter: Option[Int],
    trace: (=> String) => Unit
)(ended: (WriteAttempt, AttemptEnd) => Unit) {
  private var end = Option.empty[AttemptEnd]
  private var thread: SimulatedThread = null
  private val streams = new TaskStreams(executor, settings, threads, random)
  private val output: TaskOutput = routing.fold[TaskOutput](new NamedOutput(streams, settings)) { of =>
    new RoutedOutput(of.routes, () => of.selector(partition), streams, executor, settings, left)
  }

  private def left(stream: PhysicalStream, failure: Throwable): Unit = {
    trace(s"attempt $number leaves $stream: $failure")
    ledger.leaveStream(number, stream.arn)
  }

  def isOver: Boolean = end.isDefined

  def start(): Unit = {
    executor.began(this)
    routing.foreach(of => ledger.routed(number, of.routes.all.map(_.arn).toSet))
    thread = threads.start(s"attempt $number")(run())
  }

  /** Interrupts the task, which ends soon. */
  def kill(): Unit = if (!isOver) thread.interrupt()

  /** Ends the attempt with its executor. */
  def lose(): Unit = if (!isOver) {
    thread.kill()
    finish(AttemptEnd.Killed)
  }

  private def run(): Unit = {
    StrategyFaults.ofThread.set(strategies)
    val result =
      try {
        rows.zipWithIndex.foreach { case (row, index) => write(row, index) }
        output.flush()
        ledger.commit(number, rows)
        AttemptEnd.Committed
      } catch {
        case _: InterruptedException => AttemptEnd.Killed
        case killed: ProcessKilled => throw killed
        case violation: Violation => throw violation
        case NonFatal(error) if executor.isAlive => AttemptEnd.Failed(error)
      } finally if (executor.isAlive) output.close()
    ledger.ended(number)
    finish(result)
  }

  private def finish(result: AttemptEnd): Unit = if (!isOver) {
    end = Some(result)
    trace(s"attempt $number of task $partition on ${executor.name}: $result")
    ended(this, result)
  }

  private def write(row: WriteRow, index: Int): Unit = {
    if (failsAfter.contains(index)) throw new TaskFailed
    if (setup.rowPauseMillis > 0) threads.sleep(random.nextInt(setup.rowPauseMillis).millis)
    val record = new SinkRecord(row.key, row.hashKey.map(_.toString), WriteLedger.payload(number, row))
    output.write(row, record)
    checkMemory()
  }

  private def checkMemory(): Unit = {
    val held = output.metrics.requests
    val entries = held.bufferedEntries + held.inFlightEntries
    WriteAttempt.checkMemory(entries.toLong, held.unacknowledgedBytes, settings)
  }
}

object WriteAttempt {
  val Stream = "orders"

  /** Checks what a task holds. A record that is larger than the bound is held alone. */
  def checkMemory(entries: Long, bytes: Long, settings: KinesisSinkSettings): Unit = {
    val most = settings.requestsFor(1).maxBufferedEntries
    if (entries > most) throw new Violation("memory", s"a task holds $entries records, of $most")
    if (bytes > settings.requests.maxBufferedBytes && entries > 1)
      throw new Violation("memory", s"a task holds $bytes bytes in $entries records")
  }

  /** Returns the ARN of the stream of an account; the first account is the caller's. */
  def arn(account: Int): String = ModelKinesis.arn(WriteSetup.accounts(account + 1).last, Stream)

  def reference(target: WriteTarget): StreamRef = target match {
    case WriteTarget.Name => StreamRef.ByName(Stream)
    case WriteTarget.Arn(account) => StreamRef.parse(arn(account)).get
    case WriteTarget.Logical => throw new IllegalArgumentException("the routes have the streams of such a row")
  }
}

/**
 * The routes of a micro-batch to a logical stream.
 *
 * @param selector
 *   creates the selector of a task
 */
final case class TaskRouting(routes: Routes, selector: Int => StreamSelector)

/** The failure of a task that an error of the user's code would cause. */
final class TaskFailed extends RuntimeException("the task fails by itself")

/** The error for a stream that cannot be written at the moment. */
final class StreamUnusable(why: String) extends RuntimeException(why)
