package org.sparkkinesis.chaos.realtime

import java.nio.file.Path

import scala.concurrent.duration._
import scala.util.{Random, Using}

import org.sparkkinesis.chaos.query.{HandedRows, QueryOptions, QueryProcess}
import org.sparkkinesis.chaos.{ChaosOutcome, ChaosRun}
import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.json.Json

/**
 * A query in real-time mode with many short batches, while records and aggregates are put at a steady rate, and shards
 * are split and merged: `RealTimeBoundaries [--batches N] [--rate RECORDS_PER_SECOND] [--batch MILLISECONDS]
 * [--reshards N] [--mode polling|efo] [--seed S]`. Nothing is killed, so every record must be handed over exactly once,
 * and in the order of its key. With fan-out, subscriptions must live on between batches. Prints the seed first and one
 * JSON object on the last line. Exits with 1 when a rule was broken.
 */
object RealTimeBoundaries {
  private val Stream = "numbers"
  private val Shards = 4
  private val OpenShards = 2 to 8
  private val Patience = 3.minutes

  def main(args: Array[String]): Unit = ChaosRun.main("real-time-boundaries", args) { (folder, arguments) =>
    run(
      folder,
      arguments.number("batches", 1000),
      arguments.number("rate", 2000),
      arguments.number("batch", 500),
      arguments.number("reshards", 50),
      arguments.text("mode", "efo"),
      arguments.seed()
    )
  }

  /**
   * @param batches
   *   the number of batches of the query
   * @param subscriptions
   *   the number of calls of SubscribeToShard
   */
  final case class Outcome(
      verdict: BoundaryVerdict,
      batches: Long,
      reshards: Int,
      shards: Int,
      subscriptions: Long,
      seconds: Double,
      seed: Long
  ) extends ChaosOutcome {

    /** Whether the query opened less than one subscription for each batch. */
    def keepsSubscriptions: Boolean = subscriptions < batches
    override def isRight: Boolean =
      verdict.faultCount == 0 && keepsSubscriptions && reshards > 0 && verdict.cuts > 0

    override def json: String = {
      val facts = Seq(
        "test" -> Json.Str("real-time-boundaries"),
        "seed" -> Json.Num(BigDecimal(seed)),
        "boundaries" -> Json.Num(BigDecimal(batches)),
        "reshards" -> Json.Num(BigDecimal(reshards)),
        "shards" -> Json.Num(BigDecimal(shards)),
        "subscriptions" -> Json.Num(BigDecimal(subscriptions)),
        inSeconds(seconds)
      )
      Json.render(Json.obj(facts ++ verdict.fields: _*))
    }
  }

  def run(folder: Path, batches: Int, rate: Int, batchMillis: Int, reshards: Int, mode: String, seed: Long): Outcome = {
    val began = System.nanoTime
    Using.Manager { use =>
      val kinesis = use(KinesisEmulator.start(EmulatorConfig(quotas = false)))
      kinesis.admin.createStream(Stream, Shards)
      val query = use(new QueryProcess(folder, arguments(kinesis.endpoint, batchMillis, mode)))
      val producer = new GroupProducer(kinesis.admin, Stream)
      val resharding = new Resharding(kinesis, new Random(seed))
      query.start()
      if (!query.awaitBatches(1, Patience)) throw new IllegalStateException(s"no batch within $Patience; see $folder")
      val start = System.nanoTime
      while (query.lastBatch < batches)
        untilNextBatch(query, folder) {
          producer.putUntil((System.nanoTime - start) / 1000000 * rate / 1000)
          if (resharding.count < query.lastBatch * reshards / batches) resharding.next()
        }
      // The verdict names the rows that do not come.
      query.awaitRows(producer.count.toLong, Patience)
      val last = query.lastBatch
      query.stop(1.minute)
      val subscriptions = kinesis.calls.snapshot.collect { case (call, n) if call.operation == "SubscribeToShard" => n }
      Outcome(
        BoundaryVerdict.of(new HandedRows(folder.resolve("output")).byBatch, producer.puts),
        last,
        resharding.count,
        kinesis.admin.shards(Stream).size,
        subscriptions.sum,
        (System.nanoTime - began) / 1e9,
        seed
      )
    }.get
  }

  /** Repeats the action until a batch ends. */
  private def untilNextBatch(query: QueryProcess, folder: Path)(action: => Unit): Unit = {
    val (before, deadline) = (query.lastBatch, Patience.fromNow)
    while (query.lastBatch == before) {
      if (deadline.isOverdue())
        throw new IllegalStateException(s"no batch within $Patience after batch $before; see $folder")
      action
      query.letRun(20.millis)
    }
  }

  private def arguments(endpoint: String, batchMillis: Int, mode: String): Seq[String] =
    Seq("--master", "local[2]", "--streams", Stream, "--trigger", s"realTime:$batchMillis milliseconds") ++
      Seq("--conf.spark.sql.streaming.realTimeMode.minBatchDuration", s"${batchMillis}ms") ++
      QueryProcess.named("source", QueryOptions.source(endpoint, mode))

  /** Splits and merges random shards. */
  final private class Resharding(kinesis: KinesisEmulator, random: Random) {
    private var done = 0

    def count: Int = done

    def next(): Unit = {
      val open = kinesis.admin.shards(Stream).filter(_.isOpen).sortBy(_.hashKeyRange.start).map(_.id.value)
      val splits = open.size <= OpenShards.start || (open.size < OpenShards.end && random.nextBoolean())
      if (splits) kinesis.admin.splitShard(Stream, open(random.nextInt(open.size)))
      else {
        val first = random.nextInt(open.size - 1)
        kinesis.admin.mergeShards(Stream, open(first), open(first + 1))
      }
      done += 1
    }
  }
}
