package org.sparkkinesis.bench.dynamic

import org.apache.spark.sql.SparkSession

import org.sparkkinesis.bench.sink.{SparkWriteLoop, WriteTarget}
import org.sparkkinesis.bench.{Checkpoints, LoopGroup, Rounds}
import org.sparkkinesis.json.Json
import org.sparkkinesis.kit.Arguments

/**
 * Measures logical streams: `DynamicBenchmark [--seconds N] [--changes N]`. The last line is one JSON object, in
 * milliseconds.
 *
 * `join_…` is the time from the change of the metadata document, a file that is read every second, to the first row of
 * the stream that was added. `pause_…` is the time between two batches with rows of a stream that stays while ten
 * others join and leave, and `quiet_pause_…` the same without changes. `sink_vs_plain` is the rate of a write to a
 * logical stream of four streams with a shard each, in turn, relative to a write to one stream of four shards, and
 * `sink_cpu_vs_plain` the same for the CPU time of this process per record.
 * `take_in_…` and `answer_…` are for a logical stream of many physical streams; see [[ManyStreams]].
 */
object DynamicBenchmark {
  private val RecordBytes = 1000

  /** A round takes a few seconds. A write to four streams begins with four descriptions and four listings of shards. */
  private val RecordsPerRound = 500000L

  def main(args: Array[String]): Unit = {
    val arguments = Arguments(args)
    val seconds = arguments.seconds(120)
    val changes = arguments.number("changes", 50)
    val many = ManyStreams.measure(streams = 1000, shards = 10, seconds = math.max(5, seconds / 8))
    val target = new WriteTarget(quotas = false)
    val spark = SparkSession.builder().master("local[2]").appName("dynamic").config("spark.ui.enabled", "false")
      .config("spark.sql.shuffle.partitions", "2").config(Checkpoints.OnLocalDisk).getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    try {
      val changed = new ChangingQuery(target, spark).run(changes, quietSeconds = math.max(5, seconds / 8))
      val loops = Seq(
        new SparkWriteLoop("plain", target, target.endpoint, spark, RecordBytes),
        new LogicalWriteLoop("logical", target, spark, RecordBytes)
      )
      val written = Rounds.run(arguments, Seq(LoopGroup(loops)), RecordsPerRound, seconds / 2)(()).toMap
      def rate(name: String) = Rounds.rate(written(name))
      def cpu(name: String) = Rounds.cpu(written(name))
      val sink = Seq(
        "sink_vs_plain" -> Rounds.number(rate("logical") / rate("plain"), 3),
        "sink_cpu_vs_plain" -> Rounds.number(cpu("logical") / cpu("plain"), 3),
        "sink_per_second" -> Rounds.number(rate("logical"), 0),
        "plain_per_second" -> Rounds.number(rate("plain"), 0)
      )
      println(Json.render(Json.obj(many ++ changed ++ sink: _*)))
    } finally {
      spark.stop()
      target.close()
    }
  }

  /** Returns the 50th and the 99th percentile. */
  def percentiles(name: String, millis: Seq[Double]): Seq[(String, Json)] = {
    val sorted = millis.sorted.toVector
    Seq(50, 99).map(p => s"${name}_p${p}_ms" -> Rounds.number(sorted((sorted.size - 1) * p / 100), 2))
  }
}
