package org.sparkkinesis.chaos.reading

import java.net.{InetAddress, InetSocketAddress}
import java.nio.file.Path

import scala.concurrent.duration._
import scala.util.Using

import org.sparkkinesis.chaos.query.{QueryOptions, QueryProcess}
import org.sparkkinesis.chaos.reading.schedule.{ChaosKind, ChaosPlan, ChaosSchedule}
import org.sparkkinesis.chaos.{ChaosOutcome, ChaosRun, KnownLosses, Producer, Puts, Verdict}
import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.kit.process.StandaloneCluster
import org.sparkkinesis.model.KinesisQuotas

/**
 * Runs a query under all faults at once: splits, merges, throttling, outages, cut connections, broken subscriptions,
 * and SIGKILL of executors and the driver, while producers write numbered records under many keys. With `--kinds all`
 * also clock jumps beyond the retention, recreated streams, runs with `Trigger.AvailableNow`, changes of the consumer
 * mode, and processes that are cut off from the service only: `ReadingChaos [--seconds N] [--seed S]
 * [--mode polling|efo] [--executors 0|4] [--rate N] [--quotas on|off] [--kinds basic|all|KIND,…] [--sources N]
 * [--copy on|off]`.
 *
 * Prints the seed first and one JSON object on the last line. Exits with 1 unless every record was read exactly once
 * and in order, or its loss was reported. The same seed gives the same schedule.
 */
object ReadingChaos {
  private val Keys = 997
  private val FirstShards = 4
  private val Tick = 50.millis
  private val Patience = 5.minutes
  private val Retention = KinesisQuotas.Lifetime.RetentionDefault

  def main(args: Array[String]): Unit = ChaosRun.main("reading-chaos", args) { (folder, arguments) =>
    run(folder, ChaosPlan.of(arguments, arguments.seed()))
  }

  /**
   * @param events
   *   number of events of each kind
   * @param endings
   *   number of process lives that ended with each condition
   * @param destroyed
   *   number of events that destroyed records
   * @param inTime
   *   whether the query read all records within the time limit; otherwise records that the verdict reports as lost may
   *   only be late
   */
  final case class Outcome(
      verdict: Verdict,
      plan: ChaosPlan,
      records: Long,
      events: Map[String, Int],
      endings: Map[String, Int],
      destroyed: Int,
      lossReports: Int,
      drained: Int,
      copied: Option[CopiedRecords],
      inTime: Boolean
  ) extends ChaosOutcome {
    override def isRight: Boolean = verdict.isRight && copied.forall(_.isRight)

    override def json: String = {
      def counted(counts: Map[String, Int]) =
        counts.toSeq.sorted.map { case (name, count) => s""""$name": $count""" }.mkString("{", ", ", "}")
      s"""{"test": "reading-chaos", "seed": ${plan.seed}, "mode": "${plan.mode}", "quotas": ${plan.quotas}, """ +
        s""""seconds": ${plan.length.toSeconds}, "sources": ${plan.sources}, "records": $records, """ +
        s""""events": ${counted(events)}, "endings": ${counted(endings)}, "destroyed": $destroyed, """ +
        s""""lossReports": $lossReports, "drained": $drained, "copied": ${copied.fold("null")(_.json)}, """ +
        s""""inTime": $inTime, ${verdict.json}}"""
    }
  }

  def run(folder: Path, plan: ChaosPlan): Outcome = Using.Manager { use =>
    val kinesis = use(KinesisEmulator.start(EmulatorConfig(quotas = plan.quotas)))
    kinesis.admin.faults.reset(plan.seed)
    plan.streams.foreach(kinesis.admin.createStream(_, FirstShards))
    if (plan.copies) {
      kinesis.admin.createStream(ChaosPlan.Copy, FirstShards)
      // All written records must still exist at the end of the run.
      kinesis.admin.setRetention(ChaosPlan.Copy, KinesisQuotas.Lifetime.RetentionMax.toHours.toInt)
    }
    val proxy = Option.when(plan.has(ChaosKind.CutOff))(
      use(new ServiceProxy(new InetSocketAddress(InetAddress.getLoopbackAddress, kinesis.port)))
    )
    val cluster = Option.when(plan.executors > 0)(use(new StandaloneCluster(folder, 2, plan.executors / 2)))
    val producers =
      plan.streams.map(stream => stream -> use(new Producer(kinesis.endpoint, stream, Keys))).toMap
    val endpoint = proxy.fold(kinesis.endpoint)(_.endpoint)
    val query = use(new QueryProcess(folder, arguments(endpoint, cluster, plan), mayEnd = true))
    val ledger = new LossLedger(kinesis.admin.clock.millis, Retention.toMillis)
    val stage = new Stage(kinesis, producers, ledger, plan.streams)
    val lives = new QueryLives(query, plan.mode, () => stage.counts)
    producers.values.foreach(_.allow(plan.rate.toLong))
    lives.start()
    if (!query.awaitBatches(1, Patience))
      throw new IllegalStateException(s"no first batch; see ${query.log}")

    val play = new Play(stage, lives, proxy, cluster, query)
    val began = Deadline.now
    val todo = ChaosSchedule.of(plan).iterator.buffered
    while (began + plan.length > Deadline.now) {
      val elapsed = Deadline.now - began
      producers.values.foreach(_.allow(plan.rate + plan.rate * elapsed.toMillis / 1000))
      while (todo.headOption.exists(_._1 <= elapsed)) play.begin(todo.next()._2)
      play.tick()
      query.letRun(Tick)
    }
    stage.heal()
    proxy.foreach(_.heal())
    producers.values.foreach(_.awaitAll())
    val records = stage.counts.values.sum
    val inTime = finish(plan, query, lives, records)
    val puts = producers.toSeq.map { case (stream, made) => Puts(stream, made.count.toInt, made.sequenceNumber) }
    val reports = LossLedger.reportsIn(folder)
    val losses = new KnownLosses {
      override def isReported(stream: String, number: Long): Boolean = ledger.isReported(reports)(stream, number)
      override def mayDiffer: Int = if (reports.isEmpty) 0 else ledger.events
    }
    Outcome(
      Verdict.of(query.files, puts, losses, lives.drained),
      plan,
      records,
      play.counts,
      lives.endings,
      ledger.events,
      reports.size,
      lives.drained.size,
      Option.when(plan.copies)(CopiedRecords.of(kinesis, ChaosPlan.Copy, query.files, puts, losses)),
      inTime
    )
  }.get

  /** Waits until all records are read, by the running query or, if records may be lost, by one that ends by itself. */
  private def finish(plan: ChaosPlan, query: QueryProcess, lives: QueryLives, records: Long): Boolean =
    if (plan.loses) lives.finish(Patience)
    else {
      val deadline = Patience.fromNow
      while (query.rows < records && deadline.hasTimeLeft()) {
        lives.tick()
        query.awaitRows(records, Tick)
      }
      query.kill()
      query.rows >= records
    }

  private def arguments(endpoint: String, cluster: Option[StandaloneCluster], plan: ChaosPlan): Seq[String] = {
    val connection = QueryOptions.connection(endpoint)
    val source = connection ++ Map("initialPosition" -> "trim_horizon")
    val sink = if (plan.copies) connection else Map.empty[String, String]
    val settings = cluster.fold(Map.empty[String, String])(_.settings)
    Seq("--master", cluster.fold("local[2]")(_.master), "--streams", plan.streams.mkString(",")) ++
      (if (plan.copies) Seq("--copy", ChaosPlan.Copy) else Nil) ++
      QueryProcess.named("source", source) ++ QueryProcess.named("sink", sink) ++ QueryProcess.named("conf", settings)
  }
}
