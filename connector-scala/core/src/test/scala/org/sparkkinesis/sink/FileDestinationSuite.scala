package org.sparkkinesis.sink

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, StandardOpenOption}
import java.util.concurrent.{CompletableFuture, Executors}

import scala.jdk.CollectionConverters._

import org.scalactic.source

import org.sparkkinesis.config.Options
import org.sparkkinesis.sink.kinesis.KinesisSinkSettings
import org.sparkkinesis.sink.limit.{AimdRateLimiting, RateLimitingContext}
import org.sparkkinesis.sink.writer.AsyncSinkWriter
import org.sparkkinesis.suite.TimedSuite

/**
 * A destination other than Kinesis, which appends lines to a file. It shows everything that a destination must
 * implement.
 */
final class FileDestination(file: Path) extends SinkDestination[String] with AutoCloseable {
  private val disk = Executors.newSingleThreadExecutor()

  override def sizeOf(line: String): Int = line.length + 1

  override def send(lines: IndexedSeq[String]): CompletableFuture[IndexedSeq[Verdict]] = CompletableFuture.supplyAsync(
    () => {
      Files.write(file, lines.asJava, UTF_8, StandardOpenOption.CREATE, StandardOpenOption.APPEND)
      lines.map(_ => Verdict.Accepted)
    },
    disk
  )

  override def close(): Unit = disk.shutdown()
}

class FileDestinationSuite extends TimedSuite {
  private def testWithFile(name: String)(body: Path => Any)(implicit position: source.Position): Unit = test(name) {
    val path = Files.createTempFile("sink", ".txt")
    try body(path)
    finally Files.deleteIfExists(path)
  }

  testWithFile("the same writer fills a file: every line once, with back-pressure and the real timer") { path =>
    val timer = SharedTimer.acquire()
    val destination = new FileDestination(path)
    val settings = KinesisSinkSettings.of(Options.defaults).requests.copy(
      maxBatchSize = 100,
      maxBatchBytes = 1 << 20,
      maxBufferedEntries = 300
    )
    val limit = new AimdRateLimiting(RateLimitingContext(100, 50, () => 1, 1000)).open()
    val writer =
      new AsyncSinkWriter[String](destination, limit, settings, settings.newBounds, timer)
    (1 to 5050).foreach(n => writer.write(s"line $n"))
    writer.flush()
    assert(Files.readAllLines(path).asScala.sortBy(_.drop(5).toInt).toSeq == (1 to 5050).map(n => s"line $n"))
    assert(writer.metrics.requests >= 51)
    writer.close()
    destination.close()
    timer.close()
  }
}
