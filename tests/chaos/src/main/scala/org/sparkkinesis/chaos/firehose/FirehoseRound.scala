package org.sparkkinesis.chaos.firehose

import scala.concurrent.duration._
import scala.util.{Random, Using}

import org.sparkkinesis.chaos.writing.{Disturbances, Verdict, WriterLoad}
import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}
import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}

/**
 * Runs writers over the real client while requests are refused, cut, answered late or never, and entries fail. In the
 * middle, the service refuses every request for a sixth of the time. Then it counts every record.
 */
final class FirehoseRound(seed: Long, time: FiniteDuration) {
  private val Writers = 3
  private val stream = "chaos"
  private val random = new Random(seed)
  private val disturbances = new Disturbances("PutRecordBatch", "ServiceUnavailableException", random)

  def run(): Verdict = Using.Manager { use =>
    val kinesis = use(KinesisEmulator.start(EmulatorConfig(quotas = true)))
    kinesis.admin.createDeliveryStream(stream)
    kinesis.faults.reset(seed)
    val load = use(new WriterLoad(new FirehoseTarget(kinesis, stream), Writers, seed))
    disturb(kinesis, load, time * 5 / 12)
    val outage = FaultEffect.Error(503, "ServiceUnavailableException", "injected")
    val refuseAll = kinesis.faults.add(FaultRule(outage, operation = "PutRecordBatch"))
    load.letRun(time / 6)
    kinesis.faults.remove(refuseAll)
    disturb(kinesis, load, time * 5 / 12)
    kinesis.faults.clear()
    load.finish()
    judge(kinesis, load)
  }.get

  private def disturb(kinesis: KinesisEmulator, load: WriterLoad, during: FiniteDuration): Unit = {
    val end = during.fromNow
    while (end.hasTimeLeft()) {
      disturbances.addTo(kinesis)
      load.letRun((300L + random.nextInt(700)).millis)
    }
  }

  private def judge(kinesis: KinesisEmulator, load: WriterLoad): Verdict = {
    val metrics = load.metrics
    val arrived = DeliveryStreamDestination.lines(kinesis, stream)
    val distinct = arrived.toSet.size.toLong
    Verdict(
      s"faults and an outage of ${(time / 6).toSeconds} s",
      load.written,
      load.written - distinct,
      arrived.size - distinct,
      metrics.possibleDuplicates,
      0,
      Seq(
        "requests" -> metrics.requests,
        "retried" -> metrics.retried,
        "throttled" -> metrics.throttled,
        "timedOutRequests" -> metrics.timedOutRequests,
        "lateSuccesses" -> metrics.lateSuccesses
      )
    )
  }
}
