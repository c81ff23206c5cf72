package org.sparkkinesis.chaos.writing

import java.nio.file.{Files, Path}
import java.util.concurrent.TimeUnit

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.Random

import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}

/**
 * A streaming query in a process of its own that copies numbered lines into a stream. It is killed without warning again and
 * again, and started from its checkpoint, until it has finished. At-least-once: nothing may be missing, and what came twice
 * may at most be the micro-batches that were under way when it was killed.
 */
final class KilledQuery(seed: Long, time: FiniteDuration) {
  private val random = new Random(seed)
  private val LinesOfFile = 2000
  private val LongestRun = 5.minutes

  def run(): Verdict = {
    val folder = Files.createTempDirectory("writing-chaos")
    val kinesis = KinesisEmulator.start(EmulatorConfig(quotas = false))
    try {
      kinesis.admin.createStream("copied", 4)
      val files = math.max(8L, time.toSeconds / 2)
      writeInput(folder.resolve("input"), files)
      val (kills, status) = killUntilDone(folder, kinesis)
      val arrived = Arrivals.of(kinesis, "copied").map(_.number)
      val written = files * LinesOfFile
      val distinct = arrived.toSet.size.toLong
      Verdict(
        "killed query",
        written,
        written - distinct + (if (status == 0) 0 else 1),
        arrived.size - distinct,
        kills * LinesOfFile,
        0,
        Seq("kills" -> kills, "exitStatus" -> status.toLong)
      )
    } finally {
      kinesis.close()
      delete(folder)
    }
  }

  /** Kills it when some more records have arrived, in the middle of whichever batch that is; lets it finish when time is up. */
  private def killUntilDone(folder: Path, kinesis: KinesisEmulator): (Long, Int) = {
    val end = System.nanoTime() + time.toNanos
    var kills = 0L
    var status = Option.empty[Int]
    while (status.isEmpty) {
      val query = start(folder, kinesis)
      if (System.nanoTime() >= end) {
        if (!query.waitFor(LongestRun.toMillis, TimeUnit.MILLISECONDS)) query.destroyForcibly().waitFor()
        status = Some(query.exitValue)
      } else {
        val enough = kinesis.admin.recordCount("copied") + 1 + random.nextInt(3 * LinesOfFile)
        while (query.isAlive && System.nanoTime() < end && kinesis.admin.recordCount("copied") < enough)
          query.waitFor(20, TimeUnit.MILLISECONDS)
        if (query.isAlive) {
          query.destroyForcibly().waitFor()
          kills += 1
        } else status = Some(query.exitValue)
      }
    }
    (kills, status.get)
  }

  private def start(folder: Path, kinesis: KinesisEmulator): Process = {
    val options = java.lang.management.ManagementFactory.getRuntimeMXBean.getInputArguments.asScala.filter(_.startsWith(
      "--add-opens"
    ))
    val command = Seq(s"${System.getProperty("java.home")}/bin/java", "-Xmx768m") ++ options ++ Seq(
      "-cp",
      System.getProperty("java.class.path"),
      CopyLines.getClass.getName.stripSuffix("$"),
      folder.toString,
      kinesis.endpoint,
      kinesis.region
    )
    new ProcessBuilder(command: _*).redirectErrorStream(true).redirectOutput(folder.resolve("log.txt").toFile).start()
  }

  private def writeInput(folder: Path, files: Long): Unit = {
    Files.createDirectory(folder)
    (0L until files).foreach { file =>
      Files.write(
        folder.resolve(f"$file%06d.txt"),
        (file * LinesOfFile + 1 to (file + 1) * LinesOfFile).map(_.toString).asJava
      )
    }
  }

  private def delete(folder: Path): Unit = {
    val paths = Files.walk(folder)
    try paths.iterator.asScala.toSeq.reverseIterator.foreach { path => Files.deleteIfExists(path); () }
    finally paths.close()
  }
}
