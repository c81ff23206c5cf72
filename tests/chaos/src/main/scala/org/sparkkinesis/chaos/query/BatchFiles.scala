package org.sparkkinesis.chaos.query

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.StandardCopyOption.{ATOMIC_MOVE, REPLACE_EXISTING}
import java.nio.file.{Files, Path}
import java.security.MessageDigest
import java.util.{HexFormat, UUID}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.Row

/** A record that the query read. */
final case class SeenRecord(stream: String, number: Long, key: String, shard: String, sequenceNumber: String) {
  def line: String = s"$stream\t$number\t$key\t$shard\t$sequenceNumber"
}

object SeenRecord {
  val Columns: Seq[String] = Seq("stream", "data", "partitionKey", "shardId", "sequenceNumber")

  /** Converts a row of these columns, whose data are the number. */
  def of(row: Row): SeenRecord = SeenRecord(
    row.getString(0),
    new String(row.getAs[Array[Byte]](1), UTF_8).trim.toLong,
    row.getString(2),
    row.getString(3),
    row.getString(4)
  )

  /** Reads a line, see [[SeenRecord.line]]. */
  def parse(line: String): SeenRecord = line.split('\t') match {
    case Array(stream, number, key, shard, sequenceNumber) =>
      SeenRecord(stream, number.toLong, key, shard, sequenceNumber)
    case other => throw new IllegalStateException(s"a broken line: ${other.mkString("|")}")
  }
}

/** One attempt at a batch: its number of rows, and the digest of the sorted rows of each action. */
final case class Attempt(batch: Long, rows: Int, digests: Seq[String])

/**
 * The output folder of a query: the rows of each batch, which are replaced as a whole when the batch runs again, and
 * the digests of every attempt, which are never replaced.
 */
final class BatchFiles(folder: Path) {
  private val life = UUID.randomUUID().toString

  /**
   * @param actions
   *   the rows of each action on the batch; the rows of the first action are stored
   */
  def write(batch: Long, actions: Seq[Seq[SeenRecord]]): Unit = {
    val digests = actions.map(rows => BatchFiles.digest(rows))
    publish(s"$batch.$life.attempt", Seq(s"${actions.head.size} ${digests.mkString(" ")}"))
    publish(s"$batch.rows", actions.head.map(_.line))
  }

  def batches: Seq[Long] = names(".rows").map(_.stripSuffix(".rows").toLong).sorted

  def rows(batch: Long): Iterator[SeenRecord] =
    Files.readAllLines(folder.resolve(s"$batch.rows")).asScala.iterator.map(SeenRecord.parse)

  def attempts: Seq[Attempt] = names(".attempt").map { name =>
    val fields = Files.readString(folder.resolve(name)).trim.split(' ').toSeq
    Attempt(name.takeWhile(_ != '.').toLong, fields.head.toInt, fields.tail)
  }

  private def names(suffix: String): Seq[String] = Using.resource(Files.list(folder))(
    _.iterator.asScala.map(_.getFileName.toString).filter(_.endsWith(suffix)).toVector
  )

  private def publish(name: String, lines: Seq[String]): Unit = {
    val unfinished = folder.resolve(s"$name.$life.unfinished")
    Files.write(unfinished, lines.asJava, UTF_8)
    Files.move(unfinished, folder.resolve(name), ATOMIC_MOVE, REPLACE_EXISTING)
    ()
  }
}

private object BatchFiles {
  def digest(rows: Seq[SeenRecord]): String = {
    val sha = MessageDigest.getInstance("SHA-256")
    rows.map(_.line).sorted.foreach(line => sha.update((line + "\n").getBytes(UTF_8)))
    HexFormat.of().formatHex(sha.digest())
  }
}
