package org.sparkkinesis.chaos.query

import java.io.FileOutputStream
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.util.UUID
import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.LockSupport

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.SparkEnv
import org.apache.spark.sql.{ForeachWriter, Row}

/**
 * A row that a task of a real-time batch handed over.
 *
 * @param app
 *   Spark's id of the application; a later application of the same cluster has a greater one
 * @param attempt
 *   a name of the task's attempt
 * @param millis
 *   the time of the hand-over, in epoch milliseconds
 */
final case class HandedRow(
    batch: Long,
    app: String,
    executor: String,
    attempt: String,
    record: SeenRecord,
    millis: Long
)

/**
 * The output folder of a query that hands its rows over one by one. Each attempt of a task writes its rows to a file
 * of its own, row by row, so that the rows are there when the process is killed. Nothing is ever replaced.
 */
final class HandedRows(folder: Path) {
  import HandedRows._

  /** @param slowWhile a file; while it exists, a task takes one row per second. Empty for a sink that is always fast */
  def writer(slowWhile: String = ""): ForeachWriter[Row] = new Writer(folder.toString, slowWhile)

  /** Returns the rows of the batches from `batch` on, of each attempt in their order. */
  def rows(batch: Long = 0): Seq[HandedRow] = attempts.filter(_.batch >= batch).flatMap(_.rows)

  /** Returns the rows of each batch in the order of the batches, of each attempt in their order. */
  def byBatch: Iterator[Seq[Seq[HandedRow]]] =
    attempts.groupBy(_.batch).toSeq.sortBy(_._1).iterator.map(_._2.map(_.rows))

  private def attempts: Seq[Attempt] = Using.resource(Files.list(folder))(_.iterator.asScala.toVector)
    .flatMap { file =>
      file.getFileName.toString.split('.') match {
        case Array(id, app, executor, attempt, Suffix) => Some(Attempt(file, id.toLong, app, executor, attempt))
        case _ => None
      }
    }
}

private object HandedRows {
  val Suffix = "handed"

  /** The file of one attempt of a task. */
  final case class Attempt(file: Path, batch: Long, app: String, executor: String, name: String) {

    /** Returns the rows without one that the task is writing, or was writing when its process was killed. */
    def rows: Seq[HandedRow] = wholeLines.map { line =>
      val (millis, record) = line.splitAt(line.indexOf('\t'))
      HandedRow(batch, app, executor, name, SeenRecord.parse(record.drop(1)), millis.toLong)
    }

    private def wholeLines: Vector[String] = {
      val bytes = Files.readAllBytes(file)
      new String(bytes, 0, bytes.lastIndexOf('\n'.toByte) + 1, UTF_8).linesIterator.toVector
    }
  }

  /** The time that a row takes in a slow sink. */
  private val SlowNanos = TimeUnit.SECONDS.toNanos(1)

  final class Writer(folder: String, slowWhile: String) extends ForeachWriter[Row] {
    @transient private var out: Option[FileOutputStream] = None
    private var batch = 0L

    override def open(partition: Long, epoch: Long): Boolean = {
      batch = epoch
      out = None
      true
    }

    /** The operating system has the whole row when this returns. */
    override def process(row: Row): Unit = {
      val to = out.getOrElse(create())
      to.write(s"${System.currentTimeMillis}\t${SeenRecord.of(row).line}\n".getBytes(UTF_8))
      if (slowWhile.nonEmpty && Files.exists(Path.of(slowWhile))) LockSupport.parkNanos(SlowNanos)
    }

    override def close(failure: Throwable): Unit = out.foreach(_.close())

    private def create(): FileOutputStream = {
      val env = SparkEnv.get
      val name = s"$batch.${env.conf.getAppId}.${env.executorId}.${UUID.randomUUID()}.$Suffix"
      val created = new FileOutputStream(Path.of(folder, name).toFile)
      out = Some(created)
      created
    }
  }
}
