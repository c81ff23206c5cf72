package org.sparkkinesis.spark.write.route

import java.nio.charset.StandardCharsets.UTF_8

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.error.MetadataErrors
import org.sparkkinesis.event.{MetadataChanged, RecordedEvents, RouteCacheIgnored, RoutesStartFromCache}
import org.sparkkinesis.metadata._
import org.sparkkinesis.sink.route.RouteHistory
import org.sparkkinesis.spark.connection.FakeDirectory.arn
import org.sparkkinesis.spark.connection.{FakeDirectory, VirtualEnvironment}
import org.sparkkinesis.spark.session.checkpoint.MemoryFiles
import org.sparkkinesis.suite.TimedSuite

class RouteBookSuite extends TimedSuite {
  private val Name = "routes-1"

  private def document(version: Long): MetadataDocument = {
    val text = s"""{"version": $version, "streams": {"orders": [{"arn": "${arn("orders")}"}]}}"""
    DocumentParser.parse(text.getBytes(UTF_8)).fold(why => throw new IllegalArgumentException(why), identity)
  }

  /** One run of a query that writes to a logical stream. The service is down as long as it has no answer. */
  final private class Run(files: MemoryFiles) {
    val time = new VirtualScheduler
    val environment = new VirtualEnvironment(time, new FakeDirectory(time))
    var answer = Option.empty[MetadataDocument]
    private val service = new StreamMetadataService {
      override def address: String = "test"
      override def fetch(ids: StreamIds, known: Option[Tag]): MetadataAnswer =
        MetadataAnswer.Found(answer.getOrElse(throw MetadataErrors.unavailable(ids.toString, address, "down")), None)
      override def close(): Unit = ()
    }
    lazy val book = new RouteBook(
      Options.read(Map("streamId" -> "orders", "metadataRefreshInterval" -> "10s", "region" -> "us-east-1")),
      StreamIds.Named(Set("orders")),
      () => service,
      Some(new RouteCache(files, Name)),
      environment,
      environment.recorded
    )
  }

  test("a restart while the service is down uses the routes of the cache, with a warning") {
    val files = new MemoryFiles
    val first = new Run(files)
    first.answer = Some(document(1))
    assert(first.book.pin(Some(0)) == document(1))
    assert(first.environment.recorded.of[MetadataChanged].map(_.version) == Vector(1L))
    assert(first.environment.recorded.of[RoutesStartFromCache].isEmpty)
    first.book.close()

    val restarted = new Run(files)
    assert(restarted.book.pin(Some(1)) == document(1))
    val warnings = restarted.environment.recorded.of[RoutesStartFromCache]
    assert(warnings.map(_.version) == Vector(1L) && warnings.head.failures > 0, warnings)
    restarted.answer = Some(document(2))
    restarted.time.advance(1.minute)
    assert(restarted.book.pin(Some(2)) == document(2))
    assert(restarted.environment.recorded.of[MetadataChanged].map(_.version) == Vector(2L))
  }

  test("a damaged cache is ignored with a warning") {
    val files = new MemoryFiles
    files.write(Name, "{")
    val events = new RecordedEvents
    assert(new RouteCache(files, Name).read(events) == RouteHistory.empty)
    assert(events.of[RouteCacheIgnored].map(_.file) == Vector(Name))
  }
}
