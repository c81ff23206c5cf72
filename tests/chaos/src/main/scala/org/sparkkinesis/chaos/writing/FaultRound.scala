package org.sparkkinesis.chaos.writing

import scala.concurrent.duration._
import scala.util.{Random, Using}

import org.sparkkinesis.config.Options
import org.sparkkinesis.config.value.WriteOrdering
import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.sink.SinkMetrics
import org.sparkkinesis.sink.kinesis.KinesisSinkSettings

/**
 * Runs writers with separate keys over the real client while requests are refused, cut, answered late or never,
 * entries fail, the service has outages, and shards are split and merged. Then it counts every record.
 */
final class FaultRound(ordered: Boolean, aggregated: Boolean, seed: Long, time: FiniteDuration) {
  private val random = new Random(seed)
  private val Writers = 3
  private val stream = "chaos"
  private val disturbances = new Disturbances("PutRecords", "ProvisionedThroughputExceededException", random)

  private val settings = KinesisSinkSettings.of(Options.defaults).copy(
    KinesisSinkSettings.of(Options.defaults).requests.copy(
      maxTimeInBuffer = 50.millis,
      requestTimeout = 1500.millis,
      maxBufferedEntries = 5000,
      // With aggregation, only the limit in bytes applies.
      maxBufferedBytes = 2L << 20
    ),
    ordering = if (ordered) WriteOrdering.ByKey else WriteOrdering.Unordered,
    aggregated = aggregated
  )

  def run(): Verdict = Using.Manager { use =>
    val kinesis = use(KinesisEmulator.start(EmulatorConfig(quotas = true)))
    kinesis.admin.createStream(stream, 4)
    kinesis.faults.reset(seed)
    val load = use(new WriterLoad(new KinesisTarget(kinesis, stream, settings), Writers, seed))
    val end = time.fromNow
    var reshards = 0L
    while (end.hasTimeLeft()) {
      disturbances.addTo(kinesis)
      if (random.nextInt(3) == 0) { reshard(kinesis); reshards += 1 }
      load.letRun((300L + random.nextInt(700)).millis)
    }
    kinesis.faults.clear()
    load.finish()
    judge(kinesis, load.written, load.metrics, reshards)
  }.get

  private def judge(kinesis: KinesisEmulator, written: Long, metrics: SinkMetrics, reshards: Long): Verdict = {
    val arrivals = Arrivals.of(kinesis, stream)
    val atHome = arrivals.filter(_.atHome)
    val found = atHome.iterator.map(_.number).toSet
    Verdict(
      s"faults, ordering=${if (ordered) "key" else "none"}, aggregation=$aggregated",
      written,
      written - found.size,
      arrivals.size.toLong - found.size,
      metrics.possibleDuplicates,
      if (ordered) Arrivals.overtaken(atHome) else 0,
      Seq(
        "retried" -> metrics.retried,
        "throttled" -> metrics.throttled,
        "timedOutRequests" -> metrics.timedOutRequests,
        "lateSuccesses" -> metrics.lateSuccesses,
        "misplaced" -> (arrivals.size.toLong - atHome.size),
        "reshards" -> reshards
      )
    )
  }

  private def reshard(kinesis: KinesisEmulator): Unit = {
    val open = kinesis.admin.shards(stream).filter(_.isOpen).sortBy(_.hashKeyRange.start)
    if (open.size > 2 && random.nextBoolean()) {
      val first = random.nextInt(open.size - 1)
      kinesis.admin.mergeShards(stream, open(first).id.value, open(first + 1).id.value)
    } else if (open.size < 12) kinesis.admin.splitShard(stream, open(random.nextInt(open.size)).id.value)
  }
}
