package org.sparkkinesis.chaos.query

import java.io.{IOException, UncheckedIOException}
import java.nio.charset.StandardCharsets.US_ASCII
import java.nio.file.{Files, Path}
import java.util.concurrent.TimeUnit

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.kit.process.JavaProcess

/**
 * The end of a process life that was not killed.
 *
 * @param condition
 *   the error condition of the query; none if it ended without an error
 */
final case class Ending(condition: Option[String])

/** What a query reads of a logical stream: the version of the document, and the number of streams in each phase. */
final case class LogicalVersion(version: Long, active: Int, draining: Int, parked: Int)

/**
 * One query over several process lives: with one checkpoint and one output, it runs one [[QueryMain]] at a time,
 * which can be killed.
 *
 * Thread-safe.
 *
 * @param mayEnd
 *   whether the caller handles [[ending]]; otherwise the end of the query is a failure
 */
final class QueryProcess(
    folder: Path,
    arguments: Seq[String],
    heap: String = "1g",
    mayEnd: Boolean = false
) extends AutoCloseable {
  private val output = Files.createDirectories(folder.resolve("output"))
  private val rowsByBatch = mutable.HashMap.empty[Long, Int]
  private var buffered = 0L
  private var process: Option[Process] = None
  private var ended: Option[Ending] = None
  private var batchesInLife = 0
  private var streamsOfLife = Option.empty[LogicalVersion]
  private var begun = 0

  val files = new BatchFiles(output)

  /** The file for the standard error of every life. */
  val log: Path = folder.resolve("query.log")

  /** @param more arguments of this life, in addition to those of all lives */
  def start(more: Seq[String] = Nil): Unit = synchronized {
    require(process.isEmpty, "it runs already")
    val started = JavaProcess.start(
      "org.sparkkinesis.chaos.query.QueryMain",
      Seq("--output", output.toString, "--checkpoint", folder.resolve("checkpoint").toString) ++ arguments ++ more,
      heap,
      Some(log),
      JavaProcess.ShortLived,
      Map("SPARK_HOME" -> JavaProcess.emptySparkHome(folder).toString)
    )
    batchesInLife = 0
    streamsOfLife = None
    ended = None
    begun += 1
    process = Some(started)
    val reader = new Thread(() => follow(started), s"query-$begun")
    reader.setDaemon(true)
    reader.start()
  }

  /** Kills the process with SIGKILL and returns when it has ended. */
  def kill(): Unit = {
    val victim = synchronized {
      refuseEnding()
      val running = process
      process = None
      running
    }
    victim.foreach { running =>
      running.destroyForcibly()
      running.waitFor()
    }
  }

  /**
   * Stops the query and waits for the end of its process.
   *
   * @throws IllegalStateException
   *   if it does not end in time
   */
  def stop(within: FiniteDuration): Ending = {
    val stopping = synchronized(process)
    stopping.foreach { running =>
      try {
        running.getOutputStream.write("stop\n".getBytes(US_ASCII))
        running.getOutputStream.flush()
      } catch {
        // It has just ended by itself.
        case _: IOException => ()
      }
    }
    if (!await(within)(ended.nonEmpty)) throw new IllegalStateException(s"the query does not stop; see $log")
    ending.get
  }

  /** The end of the current life; none if it runs or was killed. */
  def ending: Option[Ending] = synchronized(ended)

  /** Returns the number of rows of all batches, each batch once. */
  def rows: Long = synchronized(rowsByBatch.valuesIterator.map(_.toLong).sum)

  /** Returns the id of the last batch, or -1 if there is none. */
  def lastBatch: Long = synchronized(rowsByBatch.keysIterator.maxOption.getOrElse(-1L))

  /** The most bytes that the buffers held when a batch ended, if the query hands its rows over one by one. */
  def mostBufferedBytes: Long = synchronized(buffered)

  def starts: Int = synchronized(begun)
  def batchesOfLife: Int = synchronized(batchesInLife)

  /** The process of the current life. */
  def handle: Option[ProcessHandle] = synchronized(process.map(_.toHandle))

  /** Waits for this number of batches in the current life. Returns false after the time limit. */
  def awaitBatches(count: Int, within: FiniteDuration): Boolean = {
    await(within)(batchesInLife >= count || ended.nonEmpty)
    batchesOfLife >= count
  }

  /** Waits until the current life reads physical streams like that. Returns false after the time limit. */
  def awaitStreams(within: FiniteDuration)(wanted: LogicalVersion => Boolean): Boolean =
    await(within)(streamsOfLife.exists(wanted))

  def awaitRows(count: Long, within: FiniteDuration): Boolean = await(within)(rows >= count)

  /** Waits this long. Returns early if the query ends, or fails unless it may end. */
  def letRun(time: FiniteDuration): Unit = {
    await(time)(mayEnd && ended.nonEmpty)
    ()
  }

  override def close(): Unit = synchronized(process).foreach { running =>
    running.destroyForcibly().waitFor()
    ()
  }

  private def await(within: FiniteDuration)(condition: => Boolean): Boolean = synchronized {
    val deadline = within.fromNow
    while (!condition && deadline.hasTimeLeft()) {
      refuseEnding()
      TimeUnit.MILLISECONDS.timedWait(this, math.max(1, deadline.timeLeft.toMillis))
    }
    condition
  }

  private def refuseEnding(): Unit = if (!mayEnd) ended.foreach(how =>
    throw new IllegalStateException(s"the query ended by itself, ${how.condition.getOrElse("in order")}; see $log")
  )

  /** Reads the output of a life and then its exit status. */
  private def follow(started: Process): Unit = {
    var condition = Option.empty[String]
    try
      started.inputReader().lines().forEach { line =>
        if (line.startsWith("failed ")) condition = Some(line.stripPrefix("failed "))
        hear(started, line)
      }
    catch {
      // A killed process closes its output in the middle of anything.
      case _: UncheckedIOException if synchronized(!process.contains(started)) => ()
    }
    val status = started.waitFor()
    synchronized {
      if (process.contains(started)) {
        process = None
        ended = Some(Ending(if (status == 0) None else condition.orElse(Some(s"exit status $status"))))
      }
      notifyAll()
    }
  }

  private def hear(from: Process, line: String): Unit = line.split(' ') match {
    case Array("batch", id, rows) => synchronized {
        rowsByBatch(id.toLong) = rows.toInt
        if (process.contains(from)) batchesInLife += 1
        notifyAll()
      }
    case Array("buffered", bytes) => synchronized { buffered = math.max(buffered, bytes.toLong) }
    case Array("streams", version, active, draining, parked) => synchronized {
        if (process.contains(from))
          streamsOfLife = Some(LogicalVersion(version.toLong, active.toInt, draining.toInt, parked.toInt))
        notifyAll()
      }
    case _ => ()
  }
}

object QueryProcess {

  /** The exit status of a query that failed. */
  val Failed = 4

  /** Returns options as arguments `--PREFIX.NAME VALUE`. */
  def named(prefix: String, options: Map[String, String]): Seq[String] =
    options.toSeq.flatMap { case (name, value) => Seq(s"--$prefix.$name", value) }
}
