package org.sparkkinesis.spark.write.route

import scala.concurrent.duration._

import org.sparkkinesis.aws.client.{ClientSettings, CredentialSettings}
import org.sparkkinesis.config.value.RouterOption
import org.sparkkinesis.config.{Options, WriteOptions}
import org.sparkkinesis.error.ServiceErrors
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.event.{RecordedEvents, StreamLeft}
import org.sparkkinesis.metadata.PhysicalStream
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException}
import org.sparkkinesis.sink.FatalSinkException
import org.sparkkinesis.sink.kinesis.KinesisSinkSettings
import org.sparkkinesis.sink.route.{RouteHealth, Routes}
import org.sparkkinesis.spark.connection.FakeDirectory.arn
import org.sparkkinesis.spark.connection.ReadStreams
import org.sparkkinesis.suite.TimedSuite

class RouteAccessSuite extends TimedSuite {
  private val streams = Seq("a", "b").flatMap(name => StreamRef.parse(arn(name)))
    .collect { case ref: StreamRef.ByArn => PhysicalStream(ref) }.toVector
  private val client = ClientSettings.of(Some("us-east-1"), None, CredentialSettings.DefaultChain)
  private val router: RouterOption = Options.defaults(WriteOptions.router)

  final private class Rig {
    val events = new RecordedEvents
    val health = new RouteHealth
    private val plan = RoutePlan(
      Routes(1, Map("orders" -> streams)),
      router,
      Some("orders"),
      streams.map(_.arn -> client).toMap,
      Set.empty,
      1.day
    )
    val access = new RouteAccess(
      plan,
      () => plan,
      KinesisSinkSettings.of(Options.defaults),
      QueryContext.Unknown,
      ReadStreams.none,
      health,
      events,
      (_, _, _) => throw new IllegalStateException("no stream is opened"),
      (_, _, failure) => failure,
      (_, _, _) => ()
    )
  }

  private def of(kind: ServiceErrorKind) = new ServiceException(kind, Operation.PutRecords, s"${kind}Exception", "why")

  test("a stream that fails is left, and an event has the reason and the records that go to other streams") {
    val rig = new Rig
    rig.access.left(streams.head, isPermanent = true, new IllegalStateException("access denied"), 7)
    assert(rig.events.all == Vector(StreamLeft(streams.head.arn, 7, "access denied")))
    assert(rig.health.isGone(streams.head) && !rig.health.isGone(streams.last))
  }

  test("failures of the service and of a check concern one stream, some of them permanently; others fail the task") {
    val access = (new Rig).access
    val table = Seq[(Throwable, Option[Boolean])](
      of(ServiceErrorKind.ResourceNotFound) -> Some(true),
      of(ServiceErrorKind.AccessDenied) -> Some(true),
      of(ServiceErrorKind.Network) -> Some(false),
      of(ServiceErrorKind.InvalidArgument) -> None,
      new FatalSinkException(of(ServiceErrorKind.AccessDenied)) -> Some(true),
      ServiceErrors.streamUnusable(stream = "a", status = "DELETING") -> Some(true),
      new IllegalStateException("a defect") -> None
    )
    table.foreach { case (failure, expected) => assert(access.judge(failure) == expected, failure) }
  }
}
