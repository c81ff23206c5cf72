package org.sparkkinesis.bench.latency

import scala.util.Using

import org.apache.spark.sql.SparkSession

import org.sparkkinesis.aws.client.SdkClients
import org.sparkkinesis.bench.source.{BareClients, ReadingStream}
import org.sparkkinesis.concurrent.SystemScheduler
import org.sparkkinesis.json.Json
import org.sparkkinesis.kit.Arguments
import org.sparkkinesis.kit.process.EmulatorProcess

/**
 * Measures queries in Spark's real-time mode, one after another, with Spark's defaults: `RealTimeBenchmark [--seconds
 * N] [--rate RECORDS_PER_SECOND]`. A producer in a JVM of its own puts records at a steady rate into 4 shards all the
 * time. The first quarter of each phase is not counted, and the first phase warms up the JVM.
 *
 *   - `efo`, `polling`: from PutRecords to the row in a `ForeachWriter`, in batches of 30 seconds
 *   - `roundtrip`: from PutRecords, with fan-out and the connector's sink, to a bare subscriber of a second stream
 *   - `micro_batch`: as `efo`, with micro-batches that follow each other without a pause
 *   - `sdk`: from PutRecords to a bare subscriber
 *   - `floor`: the connector's reader and Spark's path of a row, with a publisher in this JVM instead of a service
 *   - `boundary_gap`: from the last row of a task to its first row in the next batch, in batches of one second;
 *     `floor_boundary_gap` is the same for `floor`
 *
 * The last line is one JSON object, in milliseconds. `…_cpu_micros` is the CPU time of this process per record.
 */
object RealTimeBenchmark {
  private val Copies = "bench-copies"
  private val Shards = 4

  def main(args: Array[String]): Unit = {
    val arguments = Arguments(args)
    val (seconds, rate) = (arguments.seconds(400), arguments.number("rate", 4000))
    val figures = Using.Manager { use =>
      val emulator = use(new EmulatorProcess("3g", processor = Some(0)))
      val bare = use(BareClients.asynchronous(emulator.endpoint))
      val service = use(SdkClients.create(ReadingStream.settings(emulator.endpoint)))
      val scheduler = use(new SystemScheduler("bench", 1))
      def consumer(arn: String) = ReadingStream.registerConsumer(service, scheduler, arn, "sdk")
      val source = consumer(ReadingStream.createStream(bare, Shards))
      val sink = consumer(ReadingStream.createStream(bare, Shards, Copies))
      val spark = session()
      use.acquire(spark)(_.stop())
      val queries = new LiveQueries(spark, emulator.endpoint, rate)
      val producer = use(new ProducerProcess(emulator.endpoint, ReadingStream.Name, rate))
      def phase(name: String, share: Int) = new Phase(name, seconds * share / 82, () => producer.check())
      def subscribed(arn: String)(body: Latencies => Seq[(String, Json)]) = {
        val latencies = new Latencies
        val subscriptions = TimedRecords.subscribe(bare, arn, Shards, latencies)
        try body(latencies)
        finally subscriptions.foreach(_.cancel(true))
      }
      // Short batches compile the code of their boundaries soonest, which a query of hours has compiled.
      phase("warm_up", 8).gaps(queries.fanOut)
      phase("efo", 18).ofQuery(queries.fanOut) ++
        phase("polling", 8).ofQuery(queries.polling) ++
        subscribed(sink)(arrived => phase("roundtrip", 8).ofQuery(queries.copying(Copies), arrived)) ++
        phase("boundary", 14).gaps(queries.fanOut) ++
        phase("floor_boundary", 8).gaps(queries.inJvm) ++
        phase("micro_batch", 6).ofQuery(queries.microBatches) ++
        subscribed(source)(arrived => phase("sdk", 4).ofRecords(arrived)) ++
        phase("floor", 4).ofQuery(queries.inJvm)
    }.get
    println(Json.render(Json.obj(figures: _*)))
  }

  private def session(): SparkSession = {
    val spark = SparkSession.builder().master("local[2]").appName("real-time")
      .config("spark.ui.enabled", "false")
      .config("spark.sql.shuffle.partitions", "1")
      // The connector's sink is not in Spark's list, and batches of one second show many boundaries.
      .config("spark.sql.streaming.realTimeMode.allowlistCheck", "false")
      .config("spark.sql.streaming.realTimeMode.minBatchDuration", "500ms").getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    spark
  }
}
