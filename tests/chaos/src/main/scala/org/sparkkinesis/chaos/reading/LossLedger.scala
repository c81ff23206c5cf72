package org.sparkkinesis.chaos.reading

import java.nio.file.{Files, Path}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.Using

/** A log line about records that may be lost. */
final case class LossReport(millis: Long, stream: String)

/**
 * Records which records the service has destroyed, and when. A missing record must be one of them, and the query must
 * have reported a loss of its stream soon after. For one thread.
 *
 * @param startMillis
 *   the time of the service before the first record
 * @param retentionMillis
 *   how long the streams keep records
 * @param now
 *   the clock of this machine, which gives the times in the logs
 */
final class LossLedger(
    startMillis: Long,
    retentionMillis: Long,
    now: () => Long = () => System.currentTimeMillis()
) {
  import LossLedger._

  private var jumps = Vector.empty[Jumped]
  private var deletions = Vector.empty[Deleted]

  /** @param counts the number of records that each stream had accepted before */
  def jumped(counts: Map[String, Long], beforeMillis: Long, afterMillis: Long): Unit =
    jumps :+= Jumped(counts, beforeMillis, afterMillis, now())

  def deleted(stream: String, count: Long): Unit = deletions :+= Deleted(stream, count, now())

  /** Returns the times on this machine's clock at which a record may have been destroyed. */
  def destroyed(stream: String, number: Long): Seq[Long] = {
    val gone = deletions.collect { case Deleted(`stream`, count, at) if number < count => at }
    val (before, after) = jumps.partition(_.counts(stream) <= number)
    // It arrived after this time, and therefore expired no earlier than one retention period later.
    val arrived = before.lastOption.fold(startMillis)(_.afterMillis)
    gone ++ after.collect { case jump if jump.afterMillis - retentionMillis >= arrived => jump.atMillis }
  }

  /** Returns whether a record was destroyed and a loss of its stream was reported soon after. */
  def isReported(reports: Seq[LossReport])(stream: String, number: Long): Boolean = {
    val ofStream = reports.filter(_.stream == stream)
    destroyed(stream, number).exists(at =>
      ofStream.exists(report => report.millis >= at / 1000 * 1000 && report.millis <= at + ReportedWithin.toMillis)
    )
  }

  def events: Int = jumps.count(jump => jump.afterMillis - jump.beforeMillis >= retentionMillis) + deletions.size
}

object LossLedger {

  /** Includes restarts of the driver on a busy machine. */
  val ReportedWithin: FiniteDuration = 3.minutes

  final private case class Jumped(counts: Map[String, Long], beforeMillis: Long, afterMillis: Long, atMillis: Long)
  final private case class Deleted(stream: String, count: Long, atMillis: Long)

  private val Events = Seq("Records were lost: ", "The stream was deleted and recreated: ")
  private val Line = """^(\d\d/\d\d/\d\d \d\d:\d\d:\d\d) WARN .*\bstream=([^\s\],]+).*$""".r
  private val Time = java.time.format.DateTimeFormatter.ofPattern("yy/MM/dd HH:mm:ss")

  /** Returns the reports in the logs of the driver and, in the workers' folders, of the executors. */
  def reportsIn(folder: Path): Seq[LossReport] = Using.resource(Files.walk(folder)) { paths =>
    paths.iterator.asScala
      .filter(path => path.getFileName.toString == "stderr" || path.getFileName.toString.endsWith(".log"))
      .flatMap(path => Using.resource(Files.lines(path))(_.iterator.asScala.flatMap(report).toVector))
      .toVector
  }

  /** Returns the report in a line, if there is one. */
  def report(line: String): Option[LossReport] =
    if (!Events.exists(line.contains(_))) None
    else
      line match {
        case Line(time, stream) =>
          val local = java.time.LocalDateTime.parse(time, Time).atZone(java.time.ZoneId.systemDefault)
          Some(LossReport(local.toInstant.toEpochMilli, stream))
        case _ => None
      }
}
