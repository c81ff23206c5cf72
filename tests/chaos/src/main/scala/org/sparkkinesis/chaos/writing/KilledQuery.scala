package org.sparkkinesis.chaos.writing

import java.nio.file.{Files, Path}
import java.util.concurrent.TimeUnit

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.{Random, Using}

import org.sparkkinesis.chaos.query.QueryProcess
import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.kit.process.{JavaProcess, StandaloneCluster}

/**
 * Runs a streaming query on a standalone cluster that copies numbered lines into a destination. Its driver and its
 * executors are repeatedly killed with SIGKILL, and the driver restarts from its checkpoint, until the query has
 * finished. Delivery is at-least-once: no record may be missing, and only records of the micro-batches that were
 * running at a kill may be duplicated.
 */
final class KilledQuery(seed: Long, time: FiniteDuration, destination: CopyDestination) {
  private val random = new Random(seed)
  private val LinesOfFile = 2000
  private val LongestRun = 5.minutes

  def run(): Verdict = {
    val folder = Files.createTempDirectory("writing-chaos")
    val kinesis = KinesisEmulator.start(EmulatorConfig(quotas = false))
    try {
      destination.prepare(kinesis)
      val files = math.max(8L, time.toSeconds / 2)
      writeInput(folder.resolve("input"), files)
      val (drivers, executors, status) =
        Using.resource(new StandaloneCluster(folder, workers = 2, executorsPerWorker = 1))(
          killUntilDone(folder, kinesis, _)
        )
      val arrived = destination.arrived(kinesis)
      val written = files * LinesOfFile
      val distinct = arrived.toSet.size.toLong
      Verdict(
        "killed query",
        written,
        written - distinct + (if (status == 0) 0 else 1),
        arrived.size - distinct,
        (drivers + executors) * LinesOfFile,
        0,
        Seq("killedDrivers" -> drivers, "killedExecutors" -> executors, "exitStatus" -> status.toLong)
      )
    } finally {
      kinesis.close()
      delete(folder)
    }
  }

  /**
   * Kills the driver or an executor after some more records have arrived, in the middle of any batch. Lets the query
   * finish after the time limit.
   */
  private def killUntilDone(folder: Path, kinesis: KinesisEmulator, cluster: StandaloneCluster): (Long, Long, Int) = {
    val end = time.fromNow
    var (drivers, executors) = (0L, 0L)
    var query = start(folder, kinesis, cluster)
    while (end.hasTimeLeft() && query.isAlive) {
      val enough = destination.count(kinesis) + 1 + random.nextInt(3 * LinesOfFile)
      while (query.isAlive && end.hasTimeLeft() && destination.count(kinesis) < enough)
        query.waitFor(20, TimeUnit.MILLISECONDS)
      val living = cluster.executors
      if (query.isAlive && living.nonEmpty && random.nextBoolean()) {
        if (living(random.nextInt(living.size))._2.destroyForcibly()) executors += 1
      } else if (query.isAlive) {
        query.destroyForcibly().waitFor()
        drivers += 1
        query = start(folder, kinesis, cluster)
      }
    }
    if (!query.waitFor(LongestRun.toMillis, TimeUnit.MILLISECONDS)) query.destroyForcibly().waitFor()
    (drivers, executors, query.exitValue)
  }

  private def start(folder: Path, kinesis: KinesisEmulator, cluster: StandaloneCluster): Process = {
    val arguments = Seq(
      "folder" -> folder.toString,
      "endpoint" -> kinesis.endpoint,
      "master" -> cluster.master,
      "format" -> destination.format,
      "target" -> CopyDestination.Name
    )
    JavaProcess.start(
      CopyLines.getClass.getName.stripSuffix("$"),
      arguments.flatMap { case (name, value) => Seq(s"--$name", value) } ++
        QueryProcess.named("conf", cluster.settings),
      "768m",
      Some(folder.resolve("query.log")),
      JavaProcess.ShortLived,
      Map("SPARK_HOME" -> JavaProcess.emptySparkHome(folder).toString)
    )
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
