package org.sparkkinesis.simulation.write.task

import java.util.concurrent.ExecutionException

import scala.concurrent.duration._
import scala.util.Random
import scala.util.control.NonFatal

import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException}
import org.sparkkinesis.simulation.common.{ProcessKilled, SimulatedThread, SimulatedThreads, Violation}
import org.sparkkinesis.simulation.model.ModelKinesis
import org.sparkkinesis.simulation.write.schedule._
import org.sparkkinesis.sink.kinesis._
import org.sparkkinesis.sink.kinesis.put.SinkRecord

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
    random: Random,
    failsAfter: Option[Int],
    trace: (=> String) => Unit
)(ended: (WriteAttempt, AttemptEnd) => Unit) {
  private val bounds = settings.newBounds
  private var end = Option.empty[AttemptEnd]
  private var thread: SimulatedThread = null
  private val router = new StreamRouter(check, open, explain)

  def isOver: Boolean = end.isDefined

  def start(): Unit = {
    executor.began(this)
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
        router.flush()
        ledger.commit(number, rows)
        AttemptEnd.Committed
      } catch {
        case _: InterruptedException => AttemptEnd.Killed
        case killed: ProcessKilled => throw killed
        case violation: Violation => throw violation
        case NonFatal(error) if executor.isAlive => AttemptEnd.Failed(error)
      } finally if (executor.isAlive) router.close()
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
    val stream = WriteAttempt.reference(row.target)
    val record = new SinkRecord(row.key, row.hashKey.map(_.toString), WriteLedger.payload(number, row))
    router.rules(stream).violation(record).foreach(why => throw new Violation("record", why))
    router.write(stream, record)
    checkMemory()
  }

  private def checkMemory(): Unit = {
    val held = router.metrics.requests
    val entries = held.bufferedEntries + held.inFlightEntries
    if (entries > settings.requests.maxBufferedEntries && !settings.aggregated)
      throw new Violation("memory", s"a task holds $entries records, of ${settings.requests.maxBufferedEntries}")
    if (held.unacknowledgedBytes > settings.requests.maxBufferedBytes && entries > 1)
      throw new Violation("memory", s"a task holds ${held.unacknowledgedBytes} bytes in $entries records")
  }

  private def check(stream: StreamRef): CheckedStream = {
    val patience = settings.requests.deliveryTimeout match {
      case limit: FiniteDuration => limit
      case _ => WriteAttempt.Unlimited
    }
    val scheduler = executor.process.scheduler
    val asked =
      executor.known.find(
        WriteAttempt.Caller,
        stream,
        executor.client,
        scheduler,
        settings.retries(Operation.DescribeStreamSummary),
        settings.rules,
        random.nextDouble _
      )((_, _) => ())
    try {
      val found =
        try threads.await(asked, patience).getOrElse(throw new StreamUnusable(s"no answer within $patience")).get()
        catch { case failed: ExecutionException => throw Futures.unwrap(failed) }
      if (!found.status.isUsable) throw new StreamUnusable(s"$stream is ${found.status}")
      CheckedStream.of(stream, found, None)
    } finally {
      asked.cancel(true)
      ()
    }
  }

  private def open(stream: CheckedStream): StreamRouter.Target = {
    val sink = KinesisStreamSink.open(executor.client, stream, settings, bounds, executor.sink)
    new StreamRouter.Target(stream, sink, () => ())
  }

  private def explain(stream: CheckedStream, failure: Throwable): Throwable = {
    failure.getCause match {
      case error: ServiceException if error.kind == ServiceErrorKind.ResourceNotFound =>
        executor.known.forget(WriteAttempt.Caller, stream.stream)
      case _ => ()
    }
    failure
  }
}

object WriteAttempt {
  val Stream = "orders"
  private val Caller = "caller"

  /** Longer than any simulation. */
  private val Unlimited = 1000.days

  /** Returns the ARN of the stream of an account; the first account is the caller's. */
  def arn(account: Int): String = ModelKinesis.arn(f"${ModelKinesis.Account.toLong + account}%012d", Stream)

  def reference(target: WriteTarget): StreamRef = target match {
    case WriteTarget.Name => StreamRef.ByName(Stream)
    case WriteTarget.Arn(account) => StreamRef.parse(arn(account)).get
  }
}

/** The failure of a task that an error of the user's code would cause. */
final class TaskFailed extends RuntimeException("the task fails by itself")

/** The error for a stream that cannot be written at the moment. */
final class StreamUnusable(why: String) extends RuntimeException(why)
