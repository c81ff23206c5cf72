package org.sparkkinesis.chaos

import java.nio.file.{Files, Path}

import scala.concurrent.duration._
import scala.util.Using

import org.sparkkinesis.chaos.ChaosEvent._
import org.sparkkinesis.chaos.query.QueryProcess
import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}
import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.kit.Arguments
import org.sparkkinesis.kit.process.StandaloneCluster

/**
 * Runs a query under all faults at once: splits, merges, throttling, outages, cut connections, broken subscriptions,
 * and SIGKILL of executors and the driver, while a producer writes numbered records under many keys: `ReadingChaos
 * [--seconds N] [--seed S] [--mode polling|efo] [--executors 0|4] [--rate N] [--quotas on|off]`.
 *
 * Prints the seed first and one JSON object on the last line. Exits with 1 unless every record was read exactly once
 * and in order. The same seed gives the same schedule.
 */
object ReadingChaos {
  private val Stream = "numbers"
  private val Keys = 997
  private val FirstShards = 4
  private val OpenShards = 2 to 12
  private val Tick = 50.millis
  private val Patience = 5.minutes

  def main(args: Array[String]): Unit = {
    val arguments = Arguments(args)
    val seed = arguments.seed()
    val folder = Files.createTempDirectory("reading-chaos")
    println(s"logs and output in $folder")
    val plan = Plan(
      arguments.number("seconds", 60).seconds,
      seed,
      arguments.text("mode", "polling"),
      arguments.number("executors", 4),
      arguments.number("rate", 2000),
      arguments.text("quotas", "off") == "on"
    )
    val outcome = run(folder, plan)
    println(outcome.json)
    sys.exit(if (outcome.verdict.isRight) 0 else 1)
  }

  /**
   * @param rate
   *   records per second
   * @param quotas
   *   whether the emulator enforces the service's quotas
   */
  final case class Plan(
      length: FiniteDuration,
      seed: Long,
      mode: String,
      executors: Int,
      rate: Int,
      quotas: Boolean = false
  )

  /**
   * @param events
   *   number of events of each kind
   * @param inTime
   *   whether the number of rows reached the number of records within the time limit; otherwise records that the
   *   verdict reports as lost may only be late
   */
  final case class Outcome(
      verdict: Verdict,
      plan: Plan,
      records: Long,
      events: Map[String, Int],
      shards: Int,
      inTime: Boolean
  ) {
    def json: String = {
      val counted = events.toSeq.sorted.map { case (name, count) => s""""$name": $count""" }.mkString("{", ", ", "}")
      s"""{"test": "reading-chaos", "seed": ${plan.seed}, "mode": "${plan.mode}", "quotas": ${plan.quotas}, """ +
        s""""seconds": ${plan.length.toSeconds}, """ +
        s""""records": $records, "shards": $shards, "events": $counted, "inTime": $inTime, ${verdict.json}}"""
    }
  }

  def run(folder: Path, plan: Plan): Outcome = Using.Manager { use =>
    val kinesis = use(KinesisEmulator.start(EmulatorConfig(quotas = plan.quotas)))
    kinesis.admin.faults.reset(plan.seed)
    kinesis.admin.createStream(Stream, FirstShards)
    val cluster = Option.when(plan.executors > 0)(use(new StandaloneCluster(folder, 2, plan.executors / 2)))
    val producer = use(new Producer(kinesis.endpoint, Stream, Keys))
    val query = use(new QueryProcess(folder, arguments(kinesis, cluster, plan)))
    producer.allow(plan.rate.toLong)
    query.start()
    if (!query.awaitBatches(1, Patience)) throw new IllegalStateException(s"no first batch; see ${query.log}")

    val schedule = ChaosSchedule.of(plan.seed, plan.length, cluster.nonEmpty, plan.mode == "efo")
    val stage = new Stage(kinesis, cluster, query)
    val began = Deadline.now
    val todo = schedule.iterator.buffered
    while (began + plan.length > Deadline.now) {
      val elapsed = Deadline.now - began
      producer.allow(plan.rate + plan.rate * elapsed.toMillis / 1000)
      while (todo.headOption.exists(_._1 <= elapsed)) stage.play(todo.next()._2)
      query.letRun(Tick)
    }
    kinesis.admin.faults.clear()
    producer.awaitAll()
    val records = producer.count
    val inTime = query.awaitRows(records, Patience)
    query.kill()
    val verdict = Verdict.of(query.files, records.toInt, producer.sequenceNumber)
    Outcome(verdict, plan, records, stage.counts, kinesis.admin.shards(Stream).size, inTime)
  }.get

  private def arguments(kinesis: KinesisEmulator, cluster: Option[StandaloneCluster], plan: Plan): Seq[String] = {
    val source = Map(
      "streamName" -> Stream,
      "endpoint" -> kinesis.endpoint,
      "region" -> "us-east-1",
      "awsAccessKey" -> "test",
      "awsSecretKey" -> "test",
      "initialPosition" -> "trim_horizon",
      "consumerMode" -> plan.mode
    ) ++ Option.when(plan.mode == "efo")("consumerName" -> "chaos")
    val settings = cluster.fold(Map.empty[String, String])(_.settings)
    Seq("--master", cluster.fold("local[2]")(_.master)) ++
      source.toSeq.flatMap { case (name, value) => Seq(s"--source.$name", value) } ++
      settings.toSeq.flatMap { case (name, value) => Seq(s"--conf.$name", value) }
  }

  /** Executes the events of a schedule. */
  final private class Stage(kinesis: KinesisEmulator, cluster: Option[StandaloneCluster], query: QueryProcess) {
    private var happened = Map.empty[String, Int]

    def counts: Map[String, Int] = happened

    def play(event: ChaosEvent): Unit = {
      val did = event match {
        case Split(pick) => split(pick)
        case Merge(pick) => merge(pick)
        case LeaveOut(pick) =>
          val newest = kinesis.admin.shards(Stream).takeRight(OpenShards.end)
          val shard = newest(pick % newest.size).id.value
          kinesis.faults.add(FaultRule(FaultEffect.LeaveOut, "ListShards", Stream, shard, count = 1))
          true
        case Fault(rule) =>
          kinesis.admin.addFault(rule)
          true
        case KillExecutor(pick) => killExecutor(pick)
        case KillDriver =>
          query.kill()
          query.start()
          true
      }
      val name = event.getClass.getSimpleName.stripSuffix("$")
      if (did) happened += name -> (happened.getOrElse(name, 0) + 1)
      println(s"$event${if (did) "" else ": nothing to do"}; ${query.rows} rows so far")
    }

    private def open = kinesis.admin.shards(Stream).filter(_.isOpen).sortBy(_.hashKeyRange.start)

    private def split(pick: Int): Boolean = {
      val shards = open
      val can = shards.size < OpenShards.end
      if (can) kinesis.admin.splitShard(Stream, shards(pick % shards.size).id.value)
      can
    }

    private def merge(pick: Int): Boolean = {
      val shards = open
      val can = shards.size > OpenShards.start
      if (can) {
        val i = pick % (shards.size - 1)
        kinesis.admin.mergeShards(Stream, shards(i).id.value, shards(i + 1).id.value)
      }
      can
    }

    private def killExecutor(pick: Int): Boolean = {
      val living = cluster.toSeq.flatMap(_.executors)
      living.nonEmpty && living(pick % living.size)._2.destroyForcibly()
    }
  }
}
