package org.sparkkinesis.sink.route

import scala.collection.immutable.SortedMap

import org.sparkkinesis.metadata.{MetadataDocument, StreamState}
import org.sparkkinesis.sink.route.StreamSelectorSuite.stream
import org.sparkkinesis.suite.TimedSuite

class RouteHistorySuite extends TimedSuite {
  private def document(version: Long, names: String*) = MetadataDocument(
    version,
    SortedMap("orders" -> names.map(stream(_, weight = 7).copy(state = StreamState.Draining)).toVector)
  )
  private val (one, two, three) = (document(1, "a"), document(2, "a", "b"), document(3, "b"))
  private val used = RouteHistory.empty.used(4, one, 1000).used(9, two, 2000)

  test("a micro-batch that runs again gets the version that it has used") {
    assert(Seq(4L, 8L, 9L, 99L).map(used.at(_).map(_.document.version)) == Seq(Some(1), Some(1), Some(2), Some(2)))
    assert(used.at(3).isEmpty)
  }

  test("the version in use changes nothing, and only the last versions are kept") {
    assert(used.used(10, two, 3000) eq used)
    assert(used.used(10, three, 3000).entries.map(_.document.version) == Vector(2, 3))
  }

  test("a version that a repeated micro-batch uses instead replaces the later ones") {
    assert(used.used(9, three, 3000).entries.map(e => e.fromEpoch -> e.document.version) == Vector(4 -> 1, 9 -> 3))
  }

  test("documents that the connector has written are read, also if a service may not give them") {
    val (a, b) = (stream("a"), stream("b"))
    val circle = Vector(a.copy(after = Set(b.arn)), b.copy(after = Set(a.arn)))
    val many = Vector.tabulate(15000)(index => stream(s"many-$index"))
    Seq(circle, many).foreach { streams =>
      val history = RouteHistory.empty.used(1, MetadataDocument(1, SortedMap("orders" -> streams)), 1000)
      assert(RouteHistory.parse(history.text) == Right(history), s"${streams.size} streams")
    }
  }

  test("the text gives the same history, and no part of a damaged text is used") {
    assert(RouteHistory.parse(used.text) == Right(used))
    assert((0 until used.text.length).forall(length => RouteHistory.parse(used.text.take(length)).isLeft))
    assert(RouteHistory.parse(used.text.replace("\"format\":1", "\"format\":9")).isLeft)
    assert(RouteHistory.parse(used.text.replace("draining", "melting")).isLeft)
  }
}
