package org.sparkkinesis.chaos.query

import java.nio.file.{Files, Path}
import java.util.concurrent.TimeUnit

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.kit.process.JavaProcess

/**
 * One query over several process lives: with one checkpoint and one output, it runs one [[QueryMain]] at a time,
 * which can be killed.
 *
 * Thread-safe.
 */
final class QueryProcess(folder: Path, arguments: Seq[String], heap: String = "1g") extends AutoCloseable {
  private val output = Files.createDirectories(folder.resolve("output"))
  private val rowsByBatch = mutable.HashMap.empty[Long, Int]
  private var process: Option[Process] = None
  private var batchesInLife = 0
  private var begun = 0

  val files = new BatchFiles(output)

  /** The file for the standard error of every life. */
  val log: Path = folder.resolve("query.log")

  def start(): Unit = synchronized {
    require(process.isEmpty, "it runs already")
    val started = JavaProcess.start(
      "org.sparkkinesis.chaos.query.QueryMain",
      Seq("--output", output.toString, "--checkpoint", folder.resolve("checkpoint").toString) ++ arguments,
      heap,
      Some(log),
      JavaProcess.ShortLived,
      Map("SPARK_HOME" -> JavaProcess.emptySparkHome(folder).toString)
    )
    batchesInLife = 0
    begun += 1
    process = Some(started)
    val reader = new Thread(() => started.inputReader().lines().forEach(hear(started, _)), s"query-$begun")
    reader.setDaemon(true)
    reader.start()
    started.onExit().thenRun(() => synchronized(notifyAll()))
    ()
  }

  /** Kills the process with SIGKILL and returns when it has ended. */
  def kill(): Unit = {
    val victim = synchronized {
      val running = process
      process = None
      running
    }
    victim.foreach { running =>
      require(running.isAlive, s"the query ended by itself with ${running.exitValue}; see $log")
      running.destroyForcibly()
      running.waitFor()
    }
  }

  /** Returns the number of rows of all batches, each batch once. */
  def rows: Long = synchronized(rowsByBatch.valuesIterator.map(_.toLong).sum)

  def starts: Int = synchronized(begun)
  def batchesOfLife: Int = synchronized(batchesInLife)

  /** The process of the current life. */
  def handle: Option[ProcessHandle] = synchronized(process.map(_.toHandle))

  /** Waits for this number of batches in the current life. Returns false after the time limit. */
  def awaitBatches(count: Int, within: FiniteDuration): Boolean = await(within)(batchesInLife >= count)

  def awaitRows(count: Long, within: FiniteDuration): Boolean = await(within)(rows >= count)

  /** Waits this long; fails if the query ends before. */
  def letRun(time: FiniteDuration): Unit = {
    await(time)(false)
    ()
  }

  override def close(): Unit = synchronized(process).foreach(_ => kill())

  private def await(within: FiniteDuration)(condition: => Boolean): Boolean = synchronized {
    val deadline = within.fromNow
    while (!condition && deadline.hasTimeLeft()) {
      process.filterNot(_.isAlive).foreach { dead =>
        process = None
        throw new IllegalStateException(s"the query ended by itself with ${dead.exitValue}; see $log")
      }
      TimeUnit.MILLISECONDS.timedWait(this, math.max(1, deadline.timeLeft.toMillis))
    }
    condition
  }

  private def hear(from: Process, line: String): Unit = line.split(' ') match {
    case Array("batch", id, rows) => synchronized {
        rowsByBatch(id.toLong) = rows.toInt
        if (process.contains(from)) batchesInLife += 1
        notifyAll()
      }
    case _ => ()
  }
}
