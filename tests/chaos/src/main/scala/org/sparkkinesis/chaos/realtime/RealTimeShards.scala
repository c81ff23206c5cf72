package org.sparkkinesis.chaos.realtime

import java.nio.file.Path

import scala.concurrent.duration._
import scala.util.Using

import org.sparkkinesis.chaos.query.{HandedRow, HandedRows, QueryOptions, QueryProcess}
import org.sparkkinesis.chaos.{ChaosOutcome, ChaosRun}
import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.json.Json

/**
 * A query in real-time mode, a few tasks of which read many shards with one record per second each: `RealTimeShards
 * [--shards N] [--tasks N] [--seconds N] [--batch SECONDS] [--mode polling|efo]`. Every record must be handed over
 * exactly once, and in the order of its shard. Prints one JSON object on the last line, with the times from a put to
 * the hand-over. Exits with 1 when a rule was broken; the times are not a rule, because they depend on the machine.
 */
object RealTimeShards {
  private val Stream = "numbers"
  private val Patience = 5.minutes
  private val SilentMillis = 1000L

  def main(args: Array[String]): Unit = ChaosRun.main("real-time-shards", args) { (folder, arguments) =>
    run(
      folder,
      arguments.number("shards", 1000),
      arguments.number("tasks", 4),
      arguments.seconds(60),
      arguments.number("batch", 10),
      arguments.text("mode", "efo")
    )
  }

  /**
   * @param tasks
   *   maximum number of tasks that have handed over rows in one batch
   * @param sortedMillis
   *   the times from a put to the hand-over, in ascending order
   * @param silent
   *   the number of shards with a time of more than a second
   */
  final case class Outcome(
      verdict: BoundaryVerdict,
      shards: Int,
      wantedTasks: Int,
      tasks: Int,
      sortedMillis: IndexedSeq[Long],
      silent: Int,
      seconds: Double
  ) extends ChaosOutcome {
    override def isRight: Boolean = verdict.faultCount == 0 && tasks == wantedTasks

    private def percentile(share: Double): Json = sortedMillis match {
      case IndexedSeq() => Json.Null
      case times => Json.Num(BigDecimal(times(math.ceil(times.size * share).toInt - 1)))
    }

    override def json: String = {
      val facts = Seq(
        "test" -> Json.Str("real-time-shards"),
        "shards" -> Json.Num(BigDecimal(shards)),
        "tasks" -> Json.Num(BigDecimal(tasks)),
        "p50Millis" -> percentile(0.5),
        "p99Millis" -> percentile(0.99),
        "maxMillis" -> percentile(1),
        "shardsSilentOverASecond" -> Json.Num(BigDecimal(silent)),
        inSeconds(seconds)
      )
      Json.render(Json.obj(facts ++ verdict.fields: _*))
    }
  }

  def run(folder: Path, shards: Int, tasks: Int, seconds: Int, batchSeconds: Int, mode: String): Outcome = {
    val began = System.nanoTime
    Using.Manager { use =>
      val kinesis = use(KinesisEmulator.start(EmulatorConfig(quotas = false)))
      kinesis.admin.createStream(Stream, shards)
      val keys = kinesis.admin.shards(Stream).toIndexedSeq.map(one => one.id.value -> Option(one.hashKeyRange.start))
      val producer = new TimedProducer(kinesis.admin, Stream, keys)
      val query = use(new QueryProcess(folder, arguments(kinesis.endpoint, tasks, batchSeconds, mode), heap = "2g"))
      query.start()
      if (!query.awaitBatches(1, Patience)) throw new IllegalStateException(s"no batch within $Patience; see $folder")
      val (start, total) = (System.nanoTime, shards.toLong * seconds)
      while (producer.count < total) {
        producer.putUntil(math.min(total, (System.nanoTime - start) / 1000000 * shards / 1000))
        query.letRun(10.millis)
      }
      // The verdict names the rows that do not come.
      query.awaitRows(total, Patience)
      query.stop(1.minute)
      val handed = new HandedRows(folder.resolve("output"))
      val rows = handed.rows()
      def millis(row: HandedRow) = row.millis - producer.storedMillis(row.record.number.toInt)
      Outcome(
        BoundaryVerdict.of(handed.byBatch, producer.puts),
        shards,
        tasks,
        rows.groupBy(_.batch).values.map(_.map(_.attempt).distinct.size).maxOption.getOrElse(0),
        rows.map(millis).sorted.toIndexedSeq,
        rows.filter(millis(_) > SilentMillis).map(_.record.shard).distinct.size,
        (System.nanoTime - began) / 1e9
      )
    }.get
  }

  private def arguments(endpoint: String, tasks: Int, batchSeconds: Int, mode: String): Seq[String] =
    Seq("--master", s"local[$tasks]", "--streams", Stream, "--trigger", s"realTime:$batchSeconds seconds") ++
      Seq("--conf.spark.sql.streaming.realTimeMode.minBatchDuration", "1s") ++
      QueryProcess.named("source", QueryOptions.source(endpoint, mode))
}
