package org.sparkkinesis.spark.session

import scala.concurrent.duration._

import org.sparkkinesis.event.ServiceTimeNotRead
import org.sparkkinesis.service.Operation
import org.sparkkinesis.spark.connection.FakeDirectory.arn

class TimeCheckSuite extends SessionFixture {
  final private class Rig(names: String*)
      extends SessionRig(names, failOnDataLoss = true, retention = Map.empty) {

    /** Lets the streams' descriptions have the time of the service, which is that of this process. */
    def answer(): Unit = answer(Some(time.currentMillis / 1000 * 1000))
    def answer(millis: Option[Long]): Unit =
      service.streams.mapValuesInPlace((_, stream) => stream.copy(answeredMillis = millis)): Unit
    def asked: Int = service.callsOf(Operation.DescribeStreamSummary).size
    def failures: Seq[String] =
      environment.recorded.all.collect { case event: ServiceTimeNotRead => event.streamName }
    def isExact: Boolean =
      session.serviceClock.atLeast <= time.currentMillis && time.currentMillis <= session.serviceClock.atMost
    answer()
    session.probe(arn(names.head))
    private val before = asked
    def requests: Int = asked - before
  }

  test("the service is asked for its time once after a suspension, and not without one") {
    val rig = new Rig("orders")
    assert(rig.session.confirmTime().isEmpty)
    rig.time.advance(1.hour)
    assert(rig.session.confirmTime().isEmpty && rig.requests == 0 && rig.isExact)
    rig.time.suspend(1.hour)
    rig.answer()
    assert(!rig.isExact)
    (1 to 2).foreach(_ => assert(rig.session.confirmTime().isEmpty))
    assert(rig.requests == 1 && rig.isExact && rig.failures.isEmpty)
  }

  test("while the service does not answer, the failure is returned, and another stream is asked after a pause") {
    val rig = new Rig("orders", "clicks")
    rig.time.suspend(1.hour)
    rig.service.isSilent = true
    def condition = rig.session.confirmTime().map(_.condition)
    (1 to 2).foreach(_ => assert(condition.contains("KINESIS_ENDPOINT_UNREACHABLE")))
    assert(rig.failures.size == 1)
    rig.service.isSilent = false
    rig.service.streams -= rig.failures.head.split('/').last
    rig.time.advance(15.seconds)
    rig.answer()
    assert(condition.isEmpty && rig.isExact && rig.failures.size == 1)
  }

  test("an answer without a time is no failure, and the service is asked again after a pause") {
    val rig = new Rig("orders")
    rig.time.suspend(1.hour)
    rig.answer(None)
    (1 to 3).foreach(_ => assert(rig.session.confirmTime().isEmpty))
    assert(rig.requests == 1 && !rig.isExact)
    rig.time.advance(15.seconds)
    assert(rig.session.confirmTime().isEmpty && rig.requests == 2)
  }
}
