package org.sparkkinesis.bench.peer

import java.io.{BufferedReader, InputStreamReader}
import java.util.Locale

import org.sparkkinesis.bench.{Measured, Tally}

/** An engine whose connector is measured in a process of its own. */
trait Peer {

  /**
   * Starts to read a stream from its oldest record, and calls [[Tally.count]] for each record. Closing the result ends
   * the reading.
   *
   * @param connector
   *   the part of the engine that reads, such as `polling` or `efo`
   * @param endpoint
   *   the service's URL
   */
  def read(connector: String, endpoint: String, stream: String): AutoCloseable

  /** Writes records to a stream, calls [[Tally.count]] for each, and returns when all are acknowledged. */
  def write(endpoint: String, stream: String, records: Long, bytes: Int): Unit
}

/**
 * Runs rounds on command. A line of standard input is `read CONNECTOR ENDPOINT STREAM RECORDS` or `write ENDPOINT
 * STREAM RECORDS BYTES`; its answer is a line `RESULT RECORDS SECONDS CPU BYTES`, with microseconds of CPU time and
 * allocated bytes per record, or `FAILED REASON`. The process ends with its standard input.
 */
object PeerServer {
  val Ready = "READY"
  val Result = "RESULT"

  def serve(peer: Peer): Unit = {
    val lines = new BufferedReader(new InputStreamReader(System.in))
    println(Ready)
    Iterator.continually(lines.readLine()).takeWhile(_ != null).foreach { line =>
      val answer =
        try format(run(peer, line.split(' ').toList))
        catch {
          case failure: Exception =>
            failure.printStackTrace()
            s"FAILED $failure".replace('\n', ' ')
        }
      println(answer)
    }
    System.exit(0)
  }

  private def run(peer: Peer, command: List[String]): Measured = command match {
    case List("read", connector, endpoint, stream, records) =>
      val tally = Tally.begin(records.toLong)
      val reading = peer.read(connector, endpoint, stream)
      try tally.await()
      finally reading.close()
    case List("write", endpoint, stream, records, bytes) =>
      val tally = Tally.begin(records.toLong)
      peer.write(endpoint, stream, records.toLong, bytes.toInt)
      tally.await()
    case _ => throw new IllegalArgumentException(s"unknown command: ${command.mkString(" ")}")
  }

  private def format(found: Measured): String =
    String.format(
      Locale.ROOT,
      "%s %d %.6f %.6f %.1f",
      Result,
      Long.box(found.records),
      Double.box(found.seconds),
      Double.box(found.cpuMicros),
      Double.box(found.allocatedBytes)
    )

  /** Parses an answer. */
  def parse(answer: String): Either[String, Measured] = answer.split(' ') match {
    case Array(Result, records, seconds, cpu, allocated) =>
      Right(Measured(records.toLong, seconds.toDouble, cpu.toDouble, allocated.toDouble))
    case _ => Left(answer)
  }
}
