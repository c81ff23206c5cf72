package org.sparkkinesis.chaos

import java.nio.file.{Files, Path}
import java.util.concurrent.atomic.AtomicReference
import java.util.concurrent.{LinkedBlockingQueue, TimeUnit}

import scala.concurrent.duration._
import scala.util.{Random, Using}

import org.apache.spark.scheduler.{SparkListener, SparkListenerExecutorAdded}
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.{Dataset, Row}

import org.sparkkinesis.chaos.query.{BatchFiles, QueryOptions, QuerySession, SeenRecord}
import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.kit.process.StandaloneCluster

/**
 * Kills executors of a standalone cluster (2 workers, 4 executors) with SIGKILL while a batch uses every task slot.
 * Other executors must continue the lost shards meanwhile: `ExecutorKill [--records N] [--shards N] [--kills N]
 * [--seed S]`.
 *
 * Prints the seed first and one JSON object on the last line. Exits with 1 when a record was lost or duplicated.
 */
object ExecutorKill {
  private val Stream = "numbers"
  private val Keys = 499
  private val Patience = 2.minutes
  private val ProgressAtOnce = Map("spark.sql.streaming.noDataProgressEventInterval" -> "100ms")

  def main(args: Array[String]): Unit = ChaosRun.main("executor-kill", args) { (folder, arguments) =>
    run(
      folder,
      arguments.number("records", 200000),
      arguments.number("shards", 8),
      arguments.number("kills", 3),
      arguments.seed()
    )
  }

  /**
   * @param flowsAgainMillis
   *   milliseconds from each kill until every shard was read again, while the batch still used all slots
   * @param shareMillis
   *   milliseconds from the time at which Spark knew the replacement executor until it owned its share of the shards
   */
  final case class Outcome(verdict: Verdict, flowsAgainMillis: Seq[Long], shareMillis: Seq[Long], seed: Long)
      extends ChaosOutcome {
    override def isRight: Boolean = verdict.isRight

    override def json: String = s"""{"test": "executor-kill", "seed": $seed, "kills": ${flowsAgainMillis.size}, """ +
      s""""flowsAgainMillis": ${flowsAgainMillis.mkString("[", ", ", "]")}, """ +
      s""""shareMillis": ${shareMillis.mkString("[", ", ", "]")}, ${verdict.json}}"""
  }

  def run(folder: Path, records: Int, shards: Int, kills: Int, seed: Long): Outcome = {
    val random = new Random(seed)
    Using.Manager { use =>
      val kinesis = use(KinesisEmulator.start(EmulatorConfig(quotas = false)))
      kinesis.admin.createStream(Stream, shards)
      val producer = use(new Producer(kinesis.endpoint, Stream, Keys))
      val cluster = use(new StandaloneCluster(folder, workers = 2, executorsPerWorker = 2))
      val spark = QuerySession.open(cluster.master, cluster.settings ++ ProgressAtOnce)
      use.acquire(spark)(session => session.stop())
      // This process prints its own results; the executors' logs are in the workers' folders.
      spark.sparkContext.setLogLevel("OFF")
      val arrivals = new Arrivals
      spark.sparkContext.addSparkListener(arrivals)
      val files = new BatchFiles(Files.createDirectories(folder.resolve("output")))
      val hold = new AtomicReference[Option[TaskHold]](None)
      val query = spark.readStream
        .format("kinesis")
        .options(QueryOptions.source(kinesis.endpoint, "polling") + ("streamName" -> Stream))
        .load()
        .writeStream
        .option("checkpointLocation", folder.resolve("checkpoint").toString)
        .foreachBatch { (rows: Dataset[Row], id: Long) =>
          files.write(id, Seq(seen(rows)))
          hold.get.foreach(_.run(spark.sparkContext))
        }
        .start()
      val cycle = new Cycle(kinesis, cluster, query, files, shards)
      val perKill = records / (kills + 1)
      val times = (1 to kills).map { kill =>
        cycle.awaitOwners(4)
        Using.resource(new TaskHold(4)) { held =>
          hold.set(Some(held))
          producer.allow(kill.toLong * perKill)
          held.awaitRunning()
          hold.set(None)
          val before = cluster.executors
          val (id, victim) = before(random.nextInt(before.size))
          val flows = cycle.millisUntilAllFlow(victim.destroyForcibly())
          held.release()
          val came = arrivals.awaitAfter(before.map(_._1).max)
          cycle.awaitShareOf(came.executor)
          val share = (System.nanoTime - came.nanos) / 1000000
          println(
            s"kill $kill: executor $id; its shards were read again after $flows ms, and executor ${came.executor} " +
              s"had its share $share ms after it was added"
          )
          (flows, share)
        }
      }
      producer.allow(records.toLong)
      producer.awaitAll()
      cycle.await(s"all $records rows")(cycle.rows >= records)
      query.stop()
      Outcome(
        Verdict.of(files, Seq(Puts(Stream, records, producer.sequenceNumber))),
        times.map(_._1),
        times.map(_._2),
        seed
      )
    }.get
  }

  private def seen(rows: Dataset[Row]): Seq[SeenRecord] =
    rows.select(SeenRecord.Columns.map(col): _*).collect().toSeq.map(SeenRecord.of)

  /** Waits for states of the running query and its cluster. */
  final private class Cycle(
      kinesis: KinesisEmulator,
      cluster: StandaloneCluster,
      query: StreamingQuery,
      files: BatchFiles,
      shards: Int
  ) {
    def rows: Long = files.attempts.groupBy(_.batch).valuesIterator.map(_.head.rows.toLong).sum

    /** Returns the number of answered polls of each shard. */
    private def polls: Map[String, Long] = kinesis.calls.snapshot.collect {
      case (key, count) if key.operation == "GetRecords" && key.result == "ok" => key.shard -> count
    }

    /**
     * Returns the milliseconds from the kill until every shard was polled twice, because one answer may have been on
     * its way.
     */
    def millisUntilAllFlow(kill: => Unit): Long = {
      kill
      val before = polls
      millisOf(await("every shard to be read again")(
        polls.count { case (shard, count) => count >= before.getOrElse(shard, 0L) + 2 } == shards
      ))
    }

    /** Waits until this number of executors exists and every shard is read. */
    def awaitOwners(count: Int): Unit = await(s"$count executors that read $shards shards") {
      cluster.executors.size == count && owners.values.count(_ > 0) == count && owners.values.sum == shards
    }

    /** Waits until the executor owns shards and all shards are owned. */
    def awaitShareOf(executor: Int): Unit = await(s"a share for executor $executor") {
      owners.get(executor.toString).exists(_ > 0) && owners.values.sum == shards
    }

    private def millisOf(body: => Unit): Long = {
      val began = System.nanoTime
      body
      (System.nanoTime - began) / 1000000
    }

    def await(what: String)(condition: => Boolean): Unit = {
      val deadline = Patience.fromNow
      while (!condition) {
        query.exception.foreach(throw _)
        if (deadline.isOverdue())
          throw new IllegalStateException(s"not within $Patience: $what; owners $owners; ${query.lastProgress}")
        query.awaitTermination(10)
      }
    }

    /** Returns the number of shards by executor, from the last progress. */
    private def owners: Map[String, Int] = Option(query.lastProgress)
      .flatMap(progress => Option(progress.sources.head.metrics.get("shardsByExecutor")))
      .fold(Map.empty[String, Int])(_.split(", ").collect { case s"$id: $count" => id -> count.toInt }.toMap)
  }

  final private case class Arrival(executor: Int, nanos: Long)

  /** Records when Spark learned of each executor. */
  final private class Arrivals extends SparkListener {
    private val all = new LinkedBlockingQueue[Arrival]

    override def onExecutorAdded(event: SparkListenerExecutorAdded): Unit =
      all.put(Arrival(event.executorId.toInt, System.nanoTime))

    /** Waits for the first executor that was added after the executor `last`. */
    def awaitAfter(last: Int): Arrival = {
      val next = all.poll(Patience.toMillis, TimeUnit.MILLISECONDS)
      if (next == null) throw new IllegalStateException(s"no executor was added after $last within $Patience")
      if (next.executor > last) next else awaitAfter(last)
    }
  }
}
