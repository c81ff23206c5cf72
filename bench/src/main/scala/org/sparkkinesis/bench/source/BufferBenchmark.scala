package org.sparkkinesis.bench.source

import java.util.concurrent.TimeUnit

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.read.InputPartition

import org.sparkkinesis.bench.{Meter, Tally}
import org.sparkkinesis.chunk.{ChunkSummary, DecodeSettings}
import org.sparkkinesis.concurrent.{SerialExecutor, SystemScheduler}
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.spill.HeldChunk
import org.sparkkinesis.consume.{
  PrefetchBuffer, ProgressListener, RangeEnd, RecordBatch, RecordPublisher, RecordPublisherFactory, RecordSubscriber,
  ShardConsumers
}
import org.sparkkinesis.event.ConsumerMetrics
import org.sparkkinesis.kit.Arguments
import org.sparkkinesis.model.{StreamShard, _}
import org.sparkkinesis.plan.ShardRange
import org.sparkkinesis.service.ServiceException
import org.sparkkinesis.spark.read.reader.KinesisInputPartition
import org.sparkkinesis.spark.settings.KinesisSchema

/**
 * Measures how fast rows are read from the prefetch buffer into the `noop` sink, without a network, with all columns
 * of a stream: `BufferBenchmark [--seconds N]`. Consumers hold a million records of 200 bytes of four shards in the
 * buffer; two tasks of a Spark job read them repeatedly with the connector's reader. The last line is one JSON object
 * in rows per second.
 */
object BufferBenchmark {
  private val Stream = "bench"
  private val Shards = 4
  private val RowsPerShard = 250000
  private val RecordBytes = 200
  private val MinRounds = 5

  /** The number of times a job reads the buffer, so that its tasks run for seconds. */
  private val Passes = 20
  private val RowsPerJob = RowsPerShard.toLong * Shards * Passes

  def main(args: Array[String]): Unit = {
    val seconds = Arguments(args).seconds(60)
    val scheduler = new SystemScheduler("bench", 1)
    val session = SparkSession.builder().master("local[2]").appName("buffer").config("spark.ui.enabled", "false")
    val spark = session.getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    try {
      held = fill(scheduler)
      val all = KinesisSchema.columns.fieldNames.toSeq
      val narrow = Seq(KinesisSchema.PartitionKey, KinesisSchema.ArrivalTimestamp)
      val end = System.nanoTime + TimeUnit.SECONDS.toNanos(seconds.toLong)
      val rounds = Iterator.from(0).takeWhile(round => round <= MinRounds || System.nanoTime < end).map { round =>
        val rates = Seq(all, narrow).map(columns => rowsPerSecond(spark, columns))
        println(f"round $round%d  all columns ${rates(0)}%,12.0f rows/s, two columns ${rates(1)}%,12.0f rows/s")
        rates
      }.toVector
      val measured = rounds.tail.transpose.map(Meter.median)
      println(
        f"""{"all_columns_rows_per_second": ${measured(0)}%.0f, "two_columns_rows_per_second": ${measured(1)}%.0f}"""
      )
    } finally {
      spark.stop()
      scheduler.close()
    }
  }

  private def rowsPerSecond(spark: SparkSession, columns: Seq[String]): Double = {
    val table = spark.read.format(classOf[BufferTableProvider].getName).load()
    val begun = System.nanoTime
    table.select(columns.head, columns.tail: _*).write.format("noop").mode("overwrite").save()
    RowsPerJob * 1e9 / (System.nanoTime - begun)
  }

  @volatile private var held: ShardConsumers = _

  private[bench] def chunks(range: ShardRange): Option[IndexedSeq[HeldChunk]] = range.end match {
    case RangeEnd.At(number) => held.read(range.shard, range.after, number)
    case _ => None
  }

  /** Returns two tasks, each with half of the shards. */
  private[bench] def partitions: Array[InputPartition] = (0 until Shards).map { shard =>
    val id = ShardId.ofIndex(shard.toLong)
    val end = RangeEnd.At(SequenceNumber(number(RowsPerShard - 1)))
    ShardRange(StreamShard(Stream, id), Stream, StartingPosition.TrimHorizon, end, None)
  }.grouped(Shards / 2).map { ranges =>
    KinesisInputPartition(Seq.fill(Passes)(ranges).flatten, Array.empty): InputPartition
  }.toArray

  private def fill(scheduler: SystemScheduler): ShardConsumers = {
    val tally = new Tally(RowsPerShard.toLong * Shards)
    val listener = new ProgressListener {
      override def onChunks(shard: StreamShard, epoch: Long, chunks: Seq[ChunkSummary]): Unit =
        tally.add(chunks.iterator.map(_.rows).sum)
      override def onReadUpTo(shard: StreamShard, epoch: Long, millis: Long, behind: Long, had: Boolean): Unit =
        ()
      override def onShardEnd(shard: StreamShard, epoch: Long, children: Seq[ChildShard]): Unit = ()
      override def onFailure(shard: StreamShard, epoch: Long, error: ServiceException): Unit = tally.fail(error)
    }
    val publishers: RecordPublisherFactory = (_, _, subscriber) => new Made(scheduler, subscriber, tally.fail)
    val consumers =
      new ShardConsumers(
        publishers,
        new PrefetchBuffer(4L << 30),
        DecodeSettings.of(Options.defaults),
        listener,
        new ConsumerMetrics
      )
    (0 until Shards).foreach(shard =>
      consumers.start(StreamShard(Stream, ShardId.ofIndex(shard.toLong)), StartingPosition.TrimHorizon, 1)
    )
    tally.await()
    consumers
  }

  /** Returns a sequence number with the length of the service's. */
  private def number(row: Int): String = "4966" + f"$row%052d"

  /** Publishes generated records until a shard has its number of records. */
  final private class Made(scheduler: SystemScheduler, subscriber: RecordSubscriber, failed: Throwable => Unit)
      extends RecordPublisher {
    private val steps = new SerialExecutor(scheduler, failed)
    private var row = 0

    override def request(maxBytes: Long): Unit = steps.run {
      val count = math.min(KinesisQuotas.Request.GetRecordsLimit, RowsPerShard - row)
      if (count > 0) {
        val now = scheduler.currentMillis
        val records = Vector.tabulate(count) { i =>
          new KinesisRecord(number(row + i), s"key-${row + i}", now, Array.fill[Byte](RecordBytes)('x'), null)
        }
        row += count
        subscriber.onBatch(RecordBatch(records, 0, now))
      }
    }

    override def cancel(): Unit = ()
  }
}
