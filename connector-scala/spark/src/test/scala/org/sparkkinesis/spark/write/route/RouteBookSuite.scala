package org.sparkkinesis.spark.write.route

import java.nio.charset.StandardCharsets.UTF_8
import java.util.regex.Pattern

import scala.collection.immutable.SortedMap
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

  private def document(version: Long, streams: (String, String)*): MetadataDocument = {
    val listed = (if (streams.isEmpty) Seq("orders" -> "active") else streams).map { case (name, state) =>
      s"""{"arn": "${arn(name)}", "state": "$state"}"""
    }
    val text = s"""{"version": $version, "streams": {"orders": [${listed.mkString(", ")}]}}"""
    DocumentParser.parse(text.getBytes(UTF_8)).fold(why => throw new IllegalArgumentException(why), identity)
  }

  /** One run of a query that writes to a logical stream. The service is down as long as it has no answer. */
  final private class Run(files: MemoryFiles, ids: StreamIds = StreamIds.Named(Set("orders"))) {
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
      ids,
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

  test("a micro-batch that runs again after a restart has its own version, unless a stream of it takes no records") {
    val first = document(1, "a" -> "active", "b" -> "standby")
    val table = Seq(
      document(2, "a" -> "active", "b" -> "active") -> true,
      document(2, "a" -> "active") -> true,
      document(2, "a" -> "draining", "b" -> "active") -> false,
      document(2, "a" -> "standby", "b" -> "active") -> false,
      document(2, "b" -> "active") -> false,
      document(2, "a" -> "draining") -> false
    )
    table.foreach { case (newest, isKept) =>
      val files = new MemoryFiles
      val before = new Run(files)
      before.answer = Some(first)
      assert(before.book.pin(Some(0)) == first)
      before.book.close()
      val restarted = new Run(files)
      restarted.answer = Some(newest)
      val expected = if (isKept) first else newest
      assert(restarted.book.pin(Some(0)) == expected, s"$newest")
      assert(restarted.book.pin(Some(0)) == expected, s"again with $newest")
      assert(restarted.book.pin(Some(1)) == newest)
    }
  }

  test("a micro-batch that runs again has the newest version if the service knows another logical stream since") {
    val files = new MemoryFiles
    def named(version: Long, ids: String*) = MetadataDocument(
      version,
      ids.map(id => id -> document(1, id -> "active").streams.values.head).to(SortedMap)
    )
    val (first, second) = (named(1, "orders"), named(2, "orders", "returns"))
    Seq(first -> first, second -> second).foreach { case (answer, expected) =>
      val run = new Run(files, StreamIds.Matching(Pattern.compile(".*")))
      run.answer = Some(answer)
      assert(run.book.pin(Some(7)) == expected)
      run.book.close()
    }
  }

  test("a query that had no active stream writes to the streams of the next document") {
    val files = new MemoryFiles
    val none = document(1, "a" -> "draining")
    val before = new Run(files)
    before.answer = Some(none)
    assert(before.book.pin(Some(3)) == none)
    before.book.close()
    val restarted = new Run(files)
    restarted.answer = Some(document(2, "a" -> "active"))
    assert(restarted.book.pin(Some(3)) == document(2, "a" -> "active"))
  }

  test("a write that was idle does not go back to a version that it has seen replaced") {
    val run = new Run(new MemoryFiles)
    val (first, second) = (document(1, "a" -> "active", "b" -> "active"), document(2, "a" -> "active"))
    run.answer = Some(first)
    assert(run.book.pin(Some(0)) == first)
    run.answer = Some(second)
    // Nothing asks the service after a minute without a micro-batch.
    run.time.advance(10.minutes)
    Seq(Some(first), None).foreach { answer =>
      run.answer = answer
      assert(run.book.pin(Some(1)) == second, answer)
      run.time.advance(10.minutes)
    }
    assert(run.environment.recorded.of[RoutesStartFromCache].isEmpty)
  }

  test("an empty document does not take the streams away") {
    val files = new MemoryFiles
    val run = new Run(files)
    run.answer = Some(document(1))
    assert(run.book.pin(Some(0)) == document(1))
    run.answer = Some(document(2).copy(streams = SortedMap("orders" -> Vector.empty[PhysicalStream])))
    run.time.advance(1.minute)
    assert(run.book.pin(Some(1)) == document(1))
    run.book.close()
    val restarted = new Run(files)
    restarted.answer = run.answer
    assert(restarted.book.pin(Some(2)) == document(1))
  }

  test("tasks in trouble get a newer version, which is that of the micro-batch from then on") {
    val files = new MemoryFiles
    val run = new Run(files)
    val (first, second) = (document(1, "a" -> "active"), document(2, "b" -> "active"))
    run.answer = Some(first)
    assert(run.book.pin(Some(0)) == first)
    val revision = run.book.revisionOf(first)
    assert(run.book.newer(Some(0), revision).isEmpty, "there is no other version")
    run.answer = Some(second)
    run.time.advance(5.seconds)
    // A question lets the driver ask the service before its interval is over.
    assert(run.book.newer(Some(0), revision).isEmpty)
    run.time.advance(1.second)
    val found = run.book.newer(Some(0), revision)
    assert(found.map(_._2).contains(second))
    assert(run.book.newer(Some(0), found.get._1).isEmpty, "the executor has it")
    assert(run.book.newer(Some(0), revision) == found, "another executor has not")
    assert(run.book.newer(Some(7), revision).isEmpty, "a task of another micro-batch")
    assert(run.environment.recorded.of[MetadataChanged].map(_.version) == Vector(1L, 2L))
    run.book.close()
    val restarted = new Run(files)
    assert(restarted.book.pin(Some(0)) == second)
  }

  test("a micro-batch without trouble keeps its version when it runs again, although there is a newer one") {
    val run = new Run(new MemoryFiles)
    val (first, second) = (document(1, "a" -> "active"), document(2, "a" -> "active", "b" -> "active"))
    run.answer = Some(first)
    assert(run.book.pin(Some(0)) == first)
    run.answer = Some(second)
    run.time.advance(1.minute)
    assert(run.book.pin(Some(0)) == first)
    assert(run.book.newer(Some(0), run.book.revisionOf(first)).map(_._2).contains(second))
    assert(run.book.pin(Some(0)) == second)
  }

  test("a version in which a logical stream has no active stream does not help tasks in trouble") {
    val run = new Run(new MemoryFiles)
    run.answer = Some(document(1, "a" -> "active"))
    run.book.pin(Some(0))
    run.answer = Some(document(2, "a" -> "draining"))
    run.time.advance(1.minute)
    assert(run.book.newer(Some(0), 0).isEmpty)
  }

  test("an idle write asks the service again when its tasks are in trouble") {
    val run = new Run(new MemoryFiles)
    run.answer = Some(document(1, "a" -> "active"))
    run.book.pin(None)
    run.book.close()
    val second = document(2, "b" -> "active")
    run.answer = Some(second)
    run.time.advance(10.minutes)
    run.book.newer(None, 1)
    run.time.advance(1.second)
    assert(run.book.newer(None, 1).map(_._2).contains(second))
  }

  test("a damaged cache is ignored with a warning") {
    val files = new MemoryFiles
    files.write(Name, "{")
    val events = new RecordedEvents
    assert(new RouteCache(files, Name).read(events) == RouteHistory.empty)
    assert(events.of[RouteCacheIgnored].map(_.file) == Vector(Name))
  }
}
