package org.sparkkinesis.chaos.realtime

import java.nio.file.{Files, Path}

import scala.concurrent.duration._
import scala.util.Using

import org.sparkkinesis.chaos.query.{HandedRows, QueryOptions, QueryProcess}
import org.sparkkinesis.chaos.{ChaosOutcome, ChaosRun}
import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.json.Json

/**
 * A query in real-time mode whose sink takes one row per second and task for a long time, while more records are put,
 * and then any number: `RealTimeSlowSink [--seconds N] [--rate RECORDS_PER_SECOND] [--batch SECONDS] [--mode
 * polling|efo]`. The prefetch buffer must keep its size meanwhile. Then the query must catch up, with every record
 * handed over exactly once and in the order of its key. Prints one JSON object on the last line. Exits with 1 when a
 * rule was broken.
 */
object RealTimeSlowSink {
  private val Stream = "numbers"
  private val Shards = 2
  private val Keys = 7
  private val RecordBytes = 10000
  private val RecordsPerFetch = 20
  private val BufferBytes = 1L << 20
  private val Patience = 10.minutes

  /** Maximum number of bytes of a response or of a pushed event, and of what the columns need in addition. */
  private val ResponseBytes = Map(
    "polling" -> RecordsPerFetch * RecordBytes * 3L / 2,
    "efo" -> (512L << 10) * 3 / 2
  )

  def main(args: Array[String]): Unit = ChaosRun.main("real-time-slow-sink", args) { (folder, arguments) =>
    run(
      folder,
      arguments.seconds(600),
      arguments.number("rate", 5),
      arguments.number("batch", 10),
      arguments.text("mode", "efo")
    )
  }

  /**
   * @param rowsWhileSlow
   *   the number of rows that the sink took while it was slow
   * @param mostBufferedBytes
   *   maximum number of bytes in the buffer at the end of a batch
   * @param subscriptions
   *   the number of calls of SubscribeToShard
   * @param catchUpSeconds
   *   the time from the end of the slow part until all rows were committed
   */
  final case class Outcome(
      verdict: BoundaryVerdict,
      records: Int,
      rowsWhileSlow: Int,
      mostBufferedBytes: Long,
      allowedBytes: Long,
      subscriptions: Long,
      catchUpSeconds: Double,
      seconds: Double
  ) extends ChaosOutcome {

    /** Whether the sink was so slow that the buffer could not hold what was put. */
    def isHeldBack: Boolean = (records - rowsWhileSlow).toLong * RecordBytes > 2 * allowedBytes
    def keepsBuffer: Boolean = mostBufferedBytes > 0 && mostBufferedBytes <= allowedBytes
    override def isRight: Boolean = verdict.faultCount == 0 && isHeldBack && keepsBuffer

    override def json: String = {
      val facts = Seq(
        "test" -> Json.Str("real-time-slow-sink"),
        "records" -> Json.Num(BigDecimal(records)),
        "rowsWhileSlow" -> Json.Num(BigDecimal(rowsWhileSlow)),
        "mostBufferedBytes" -> Json.Num(BigDecimal(mostBufferedBytes)),
        "allowedBytes" -> Json.Num(BigDecimal(allowedBytes)),
        "subscriptions" -> Json.Num(BigDecimal(subscriptions)),
        "catchUpSeconds" -> inSeconds(catchUpSeconds)._2,
        inSeconds(seconds)
      )
      Json.render(Json.obj(facts ++ verdict.fields: _*))
    }
  }

  def run(folder: Path, seconds: Int, rate: Int, batchSeconds: Int, mode: String): Outcome = {
    val began = System.nanoTime
    Using.Manager { use =>
      val kinesis = use(KinesisEmulator.start(EmulatorConfig(quotas = false)))
      kinesis.admin.createStream(Stream, Shards)
      val keys = (0 until Keys).map(key => s"key-$key" -> Option.empty[BigInt])
      val producer = new TimedProducer(kinesis.admin, Stream, keys, RecordBytes)
      val slow = Files.createFile(folder.resolve("slow"))
      val query = use(new QueryProcess(folder, arguments(kinesis.endpoint, batchSeconds, mode, slow)))
      query.start()
      if (!query.awaitBatches(1, Patience)) throw new IllegalStateException(s"no batch within $Patience; see $folder")
      val handed = new HandedRows(folder.resolve("output"))
      val (start, total) = (System.nanoTime, seconds.toLong * rate)
      while (producer.count < total) {
        producer.putUntil(math.min(total, (System.nanoTime - start) / 1000000 * rate / 1000))
        query.letRun(100.millis)
      }
      val (rowsWhileSlow, ended) = (handed.rows().size, System.nanoTime)
      Files.delete(slow)
      // The verdict names the rows that do not come.
      query.awaitRows(total, Patience)
      val catchUp = (System.nanoTime - ended) / 1e9
      query.stop(1.minute)
      val subscriptions = kinesis.calls.snapshot.collect { case (call, n) if call.operation == "SubscribeToShard" => n }
      Outcome(
        BoundaryVerdict.of(handed.byBatch, producer.puts),
        producer.count,
        rowsWhileSlow,
        query.mostBufferedBytes,
        BufferBytes + Shards * ResponseBytes(mode),
        subscriptions.sum,
        catchUp,
        (System.nanoTime - began) / 1e9
      )
    }.get
  }

  private def arguments(endpoint: String, batchSeconds: Int, mode: String, slow: Path): Seq[String] = {
    val source = QueryOptions.source(endpoint, mode) ++ Map(
      "fetchBufferSize" -> BufferBytes.toString,
      "maxRecordsPerFetch" -> RecordsPerFetch.toString
    )
    Seq("--master", "local[2]", "--streams", Stream, "--trigger", s"realTime:$batchSeconds seconds") ++
      Seq("--slow", slow.toString, "--conf.spark.sql.streaming.realTimeMode.minBatchDuration", "1s") ++
      QueryProcess.named("source", source)
  }
}
