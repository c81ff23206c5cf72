package org.sparkkinesis.chaos.logical

import java.nio.file.Path

import scala.collection.immutable.VectorMap
import scala.concurrent.duration._
import scala.util.{Random, Using}

import org.sparkkinesis.chaos.query.{QueryOptions, QueryProcess}
import org.sparkkinesis.chaos.{ChaosOutcome, ChaosRun, Producer, Puts, Verdict}
import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.kit.process.StandaloneCluster

/**
 * Lets the physical streams of a logical stream leave and return while a query reads them, and kills the driver of the
 * query, and its executors if there are any, with SIGKILL: `LogicalChaos [--oscillations N] [--records N] [--kills N]
 * [--rate N] [--executors 0|2|4] [--mode polling|efo] [--seed S]`. A stream leaves because the document lacks it, or
 * names it as draining or on standby. Damaged documents come between. Producers write to all streams all the time.
 *
 * Prints the seed first and one JSON object on the last line. Exits with 1 unless every record was read exactly once,
 * and the records of each key in order.
 */
object LogicalChaos {
  private val Steady = "steady"
  private val Changing = Vector("changing-0", "changing-1", "changing-2")
  private val Shards = 2
  private val Keys = 97
  private val Patience = 5.minutes

  def main(args: Array[String]): Unit = ChaosRun.main("logical-chaos", args) { (folder, arguments) =>
    val oscillations = arguments.number("oscillations", 40)
    val plan = Plan(
      oscillations,
      arguments.number("records", 0),
      arguments.number("kills", oscillations / 4),
      arguments.number("rate", 2000),
      arguments.number("executors", 0),
      arguments.text("mode", "polling"),
      arguments.seed()
    )
    run(folder, plan)
  }

  /**
   * @param oscillations
   *   how often a stream leaves and returns
   * @param records
   *   the least number of records of all streams
   * @param rate
   *   records per second of all streams
   */
  final case class Plan(
      oscillations: Int,
      records: Int,
      kills: Int,
      rate: Int,
      executors: Int,
      mode: String,
      seed: Long
  ) {
    private[logical] def perStream(records: Long): Long = records / (Changing.size + 1)
  }

  /** @param events the number of events by kind */
  final case class Outcome(verdict: Verdict, plan: Plan, records: Long, events: Map[String, Long], seconds: Double)
      extends ChaosOutcome {
    override def isRight: Boolean = verdict.isRight && verdict.rows == records

    override def json: String = {
      val counted = events.toSeq.sorted.map { case (name, count) => s""""$name": $count""" }.mkString("{", ", ", "}")
      f"""{"test": "logical-chaos", "seed": ${plan.seed}, "mode": "${plan.mode}", "executors": ${plan.executors}, """ +
        f""""seconds": $seconds%.1f, "records": $records, "events": $counted, ${verdict.json}}"""
    }
  }

  def run(folder: Path, plan: Plan): Outcome = Using.Manager { use =>
    val began = Deadline.now
    val kinesis = use(KinesisEmulator.start(EmulatorConfig(quotas = false)))
    val arns = (Steady +: Changing).map(name => name -> kinesis.admin.createStream(name, Shards))
    val document = new StreamsDocument(folder, VectorMap.from(arns))
    document.publish()
    val producers = arns.map { case (name, _) => name -> use(new Producer(kinesis.endpoint, name, Keys)) }
    val cluster = Option.when(plan.executors > 0)(use(new StandaloneCluster(folder, 2, plan.executors / 2)))
    val query = use(new QueryProcess(folder, arguments(kinesis.endpoint, document.service, cluster, plan)))
    query.start()
    val play = new Oscillations(
      document,
      query,
      cluster,
      new Random(plan.seed),
      Changing,
      tick = () => {
        val elapsed = plan.rate + plan.rate * (Deadline.now - began).toMillis / 1000
        producers.foreach { case (_, producer) => producer.allow(plan.perStream(elapsed)) }
      }
    )
    play.awaitAll()
    (1 to plan.oscillations).foreach { number =>
      val kills = number * plan.kills / plan.oscillations - (number - 1) * plan.kills / plan.oscillations
      play.oscillate(number, kills)
    }
    producers.foreach { case (_, producer) =>
      producer.allow(plan.perStream(plan.records.toLong))
      producer.awaitAll()
    }
    val records = producers.map(_._2.count).sum
    if (!query.awaitRows(records, Patience)) println(s"not all records were read within $Patience")
    query.kill()
    val puts = producers.map { case (name, producer) => Puts(name, producer.count.toInt, producer.sequenceNumber) }
    Outcome(
      Verdict.of(query.files, puts),
      plan,
      records,
      play.counts + ("iteratorsOfSteady" -> kinesis.calls.count("GetShardIterator", Steady)),
      (Deadline.now - began).toMillis / 1000.0
    )
  }.get

  private def arguments(
      endpoint: String,
      service: String,
      cluster: Option[StandaloneCluster],
      plan: Plan
  ): Seq[String] = {
    val source = QueryOptions.connection(endpoint) ++ QueryOptions.consumer(plan.mode) ++ Map(
      "streamId" -> StreamsDocument.Id,
      "metadataService" -> service,
      "metadataRefreshInterval" -> "1s",
      "removalConfirmations" -> "1",
      "onStreamRemoved" -> "park",
      "drainGrace" -> "1s",
      // With fan-out, a stream that is written all the time always has records that no batch has taken.
      "drainTimeout" -> "4s",
      "initialPosition" -> "trim_horizon",
      "minFetchPeriod" -> "50ms"
    )
    Seq("--master", cluster.fold("local[2]")(_.master)) ++
      QueryProcess.named("source", source) ++
      QueryProcess.named("conf", cluster.fold(Map.empty[String, String])(_.settings))
  }
}
