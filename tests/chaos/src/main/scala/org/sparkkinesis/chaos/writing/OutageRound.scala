package org.sparkkinesis.chaos.writing

import scala.concurrent.duration._
import scala.util.Using

import org.sparkkinesis.config.Options
import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}
import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.sink.kinesis.KinesisSinkSettings

/**
 * Runs writers at full load while the service refuses every request for `time`. They must stop with full buffers,
 * accept no more records, and lose none after the outage.
 */
final class OutageRound(seed: Long, time: FiniteDuration) {
  private val Writers = 3
  private val Buffered = 5000
  private val stream = "outage"

  private val settings = KinesisSinkSettings.of(
    Options.defaults
  ).copy(KinesisSinkSettings.of(Options.defaults).requests.copy(maxBufferedEntries = Buffered))

  def run(): Verdict = Using.Manager { use =>
    val kinesis = use(KinesisEmulator.start(EmulatorConfig(quotas = false)))
    kinesis.admin.createStream(stream, 4)
    val load = use(new WriterLoad(new KinesisTarget(kinesis, stream, settings), Writers, seed))
    load.letRunUntil(kinesis.admin.recordCount(stream) >= Buffered)
    kinesis.faults.add(FaultRule(
      FaultEffect.Error(503, "ServiceUnavailableException", "injected"),
      operation = "PutRecords"
    ))
    load.letRunUntil(unacknowledged(load) == Writers.toLong * Buffered)
    load.letRun(time)
    // Read the values in this order, because earlier requests may still be answered.
    val (written, held) = (load.written, load.metrics.unacknowledgedBytes)
    val stored = kinesis.admin.recordCount(stream)
    kinesis.faults.clear()
    load.letRunUntil(kinesis.admin.recordCount(stream) >= stored + 2L * Writers * Buffered)
    load.finish()
    val metrics = load.metrics
    val arrivals = Arrivals.of(kinesis, stream)
    val found = arrivals.iterator.map(_.number).toSet
    Verdict(
      s"outage of ${time.toSeconds} s",
      load.written,
      load.written - found.size,
      arrivals.size.toLong - found.size,
      metrics.possibleDuplicates,
      0,
      Seq(
        "heldBytes" -> held,
        "retried" -> metrics.retried,
        "blockedSeconds" -> metrics.blockedNanos / 1000000000L
      ),
      // Each writer may block with one more record.
      overrun = math.max(0, written - stored - Writers * (Buffered + 1L))
    )
  }.get

  private def unacknowledged(load: WriterLoad): Long = {
    val now = load.metrics
    now.inFlightEntries.toLong + now.bufferedEntries
  }
}
