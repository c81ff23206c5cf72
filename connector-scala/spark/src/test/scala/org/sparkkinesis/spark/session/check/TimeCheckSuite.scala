package org.sparkkinesis.spark.session.check

import scala.concurrent.duration._

import org.sparkkinesis.event.ServiceTimeNotRead
import org.sparkkinesis.service.Operation
import org.sparkkinesis.spark.connection.FakeDirectory.arn
import org.sparkkinesis.spark.session.SessionFixture

class TimeCheckSuite extends SessionFixture {
  final private class Rig(names: String*)
      extends SessionRig(names, failOnDataLoss = true, retention = Map.empty) {
    val checked = new TimeCheck(session)
    private def clock = session.serviceClock

    /** Lets the streams' descriptions have the time of the service, which is that of this process. */
    def answer(): Unit = service.streams.mapValuesInPlace((_, stream) =>
      stream.copy(answeredMillis = Some(time.currentMillis / 1000 * 1000))
    ): Unit
    def asked: Int = service.callsOf(Operation.DescribeStreamSummary).size
    def failures: Seq[String] =
      environment.recorded.all.collect { case event: ServiceTimeNotRead => event.streamName }
    def isExact: Boolean = clock.atLeast <= time.currentMillis && time.currentMillis <= clock.atMost
    answer()
    session.probe(arn(names.head))
    private val before = asked
    def requests: Int = asked - before
  }

  test("the service is asked for its time once after a suspension, and not without one") {
    val rig = new Rig("orders")
    rig.checked.confirm()
    rig.time.advance(1.hour)
    rig.checked.confirm()
    assert(rig.requests == 0 && rig.isExact)
    rig.time.suspend(1.hour)
    rig.answer()
    assert(!rig.isExact)
    rig.checked.confirm()
    rig.checked.confirm()
    assert(rig.requests == 1 && rig.isExact && rig.failures.isEmpty)
  }

  test("another stream is asked if the first one does not answer, and all again a minute later") {
    val rig = new Rig("orders", "clicks", "views")
    rig.time.suspend(1.hour)
    rig.service.isSilent = true
    rig.checked.confirm()
    rig.checked.confirm()
    assert(rig.failures == Seq("clicks", "orders").map(arn))
    rig.service.isSilent = false
    rig.service.streams -= "clicks"
    rig.checked.confirm()
    assert(!rig.isExact)
    rig.time.advance(1.minute)
    rig.answer()
    rig.checked.confirm()
    assert(rig.isExact && rig.failures.size == 3)
  }
}
