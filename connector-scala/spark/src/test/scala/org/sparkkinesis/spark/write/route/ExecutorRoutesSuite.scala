package org.sparkkinesis.spark.write.route

import java.nio.charset.StandardCharsets.UTF_8

import scala.concurrent.duration._

import org.sparkkinesis.aws.client.{ClientSettings, CredentialSettings}
import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.{Options, WriteOptions}
import org.sparkkinesis.event.{RecordedEvents, RoutesNotAsked}
import org.sparkkinesis.metadata.{DocumentParser, DocumentText, MetadataDocument}
import org.sparkkinesis.sink.route.Routes
import org.sparkkinesis.spark.connection.FakeDirectory.arn
import org.sparkkinesis.spark.protocol.{NewerRoutes, ProtocolCodec, RoutesWanted}
import org.sparkkinesis.spark.settings.StreamConnection
import org.sparkkinesis.suite.TimedSuite

class ExecutorRoutesSuite extends TimedSuite {
  private val base = ClientSettings.of(Some("us-east-1"), None, CredentialSettings.DefaultChain)

  private def document(version: Long, name: String): MetadataDocument =
    DocumentParser.parse(
      s"""{"version": $version, "streams": {"orders": [{"arn": "${arn(name)}"}]}}""".getBytes(UTF_8)
    ).fold(why => throw new IllegalArgumentException(why), identity)

  /** An executor, and the driver that it asks. */
  final private class Rig {
    val time = new VirtualScheduler
    val events = new RecordedEvents
    var asked = Vector.empty[RoutesWanted]
    var answer: () => Option[NewerRoutes] = () => None
    private val planned = RoutePlan(
      Routes.of(document(1, "a")),
      Options.defaults(WriteOptions.router),
      Some("orders"),
      Map(arn("a") -> base),
      Set.empty,
      1.minute
    )
    val routes = new ExecutorRoutes(
      planned,
      RouteDesk.Address("desk", Some(7), 3),
      base,
      { message =>
        asked :+= ProtocolCodec.decodeRoutesWanted(message)
        ProtocolCodec.encode(answer())
      },
      _.run(),
      time,
      events
    )
  }

  test("an executor asks once a second at most, and has the routes and connections of the answer") {
    val rig = new Rig
    rig.routes.wanted()
    rig.routes.wanted()
    assert(rig.asked == Vector(RoutesWanted(Some(7), 3)) && rig.routes.routes.isEmpty)
    rig.time.advance(1.second)
    val newer = document(2, "b")
    val connection = StreamConnection("us-east-1", Some("http://localhost:7"), None, None)
    rig.answer = () => Some(NewerRoutes(4, DocumentText.render(newer), Seq(arn("b") -> connection), Seq(arn("b"))))
    rig.routes.wanted()
    assert(rig.routes.routes.contains(Routes.of(newer)))
    assert(rig.routes.routes.get eq rig.routes.routes.get, "the same object until there are newer ones")
    assert(rig.routes.plan.connections(arn("b")).endpoint.contains("http://localhost:7"))
    assert(rig.routes.plan.mustBeOwn == Set(arn("b")))
    rig.time.advance(1.second)
    rig.routes.wanted()
    assert(rig.asked.last == RoutesWanted(Some(7), 4))
  }

  test("a driver that does not answer is asked again, with one warning") {
    val rig = new Rig
    rig.answer = () => throw new IllegalStateException("no endpoint")
    (1 to 5).foreach { _ =>
      rig.routes.wanted()
      rig.time.advance(1.second)
    }
    assert(rig.asked.size == 5)
    assert(rig.events.all == Vector(RoutesNotAsked("no endpoint")))
  }
}
