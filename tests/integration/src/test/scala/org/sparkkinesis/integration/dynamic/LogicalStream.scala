package org.sparkkinesis.integration.dynamic

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, StandardCopyOption}
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong

import scala.concurrent.duration._

import org.sparkkinesis.emulator.KinesisEmulator

/**
 * One physical stream in a document of a test. `members` are further members as JSON. Writers leave out a stream that
 * does not exist.
 */
final case class Physical(arn: String, state: String = "active", members: String = "", exists: Boolean = true)

/** A logical stream whose document is a file, and writers that follow the document some time later. */
final class LogicalStream(folder: Path, lag: FiniteDuration = 1.second) {
  val file: Path = folder.resolve(s"streams-${java.util.UUID.randomUUID()}.json")
  private var version = 0L

  /** The streams that the writers use, with the time from which they do. */
  private var active = Vector.empty[(Long, Seq[String])]
  private val counts = new ConcurrentHashMap[String, AtomicLong]

  /** Replaces the document, as a reader sees it at once. */
  def set(streams: Physical*): Unit = synchronized {
    version += 1
    // The lag begins before a reader can see the document, so that a slow machine does not extend it.
    val now = System.nanoTime()
    val list = streams.map(one => s"""{"arn": "${one.arn}", "state": "${one.state}"${one.members}}""")
    write(s"""{"version": $version, "streams": {"orders": [${list.mkString(", ")}]}}""")
    active :+= (now -> streams.filter(one => one.state == "active" && one.exists).map(_.arn))
  }

  def write(text: String): Unit = {
    val next = Files.writeString(folder.resolve(s"${file.getFileName}.next"), text)
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING)
    ()
  }

  /** The streams that the writers use now. The first document has no lag. */
  def writable: Seq[String] = synchronized {
    val now = System.nanoTime()
    active.filter(_._1 + lag.toNanos <= now).lastOption.orElse(active.headOption).fold(Seq.empty[String])(_._2)
  }

  /** Puts one record whose data is `key:n`, with numbers that ascend for each key. */
  def put(number: Int, keys: Int, at: String => KinesisEmulator): Unit = {
    val key = s"key-${number % keys}"
    val streams = writable
    val arn = streams(math.floorMod(key.hashCode, streams.size))
    val n = counts.computeIfAbsent(key, _ => new AtomicLong).getAndIncrement()
    at(arn).admin.putRecord(arn.substring(arn.indexOf('/') + 1), key, s"$key:$n".getBytes(UTF_8))
    ()
  }

  /** The data of every record that was put. */
  def expected: Set[String] = {
    val all = Set.newBuilder[String]
    counts.forEach((key, count) => (0L until count.get).foreach(n => all += s"$key:$n"))
    all.result()
  }
}
