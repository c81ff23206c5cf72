package org.sparkkinesis.chaos.realtime

import java.nio.file.{Files, Path}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.{Random, Using}

import org.sparkkinesis.chaos.query.{HandedRow, HandedRows, QueryOptions, QueryProcess}
import org.sparkkinesis.chaos.{ChaosOutcome, ChaosRun, Producer, Puts}
import org.sparkkinesis.json.Json
import org.sparkkinesis.kit.process.{EmulatorProcess, StandaloneCluster}

/**
 * Kills executors and the driver of a query in real-time mode with SIGKILL in the middle of batches, on a standalone
 * cluster, while a producer writes: `RealTimeKills [--records N] [--kills N] [--executors N] [--batch SECONDS] [--mode
 * polling|efo] [--trigger realTime|mixed] [--seed S]`. Kills of an executor and of the driver alternate. With `mixed`,
 * every second driver runs the query in micro-batches, on the same checkpoint.
 *
 * With two executors, the query uses all slots, and a lost task waits for the replacement. With more, it starts again
 * at once. Prints the seed first and one JSON object on the last line, with the time after each kill until rows of
 * every shard came again. Exits with 1 when a record was lost, or repeated without need.
 */
object RealTimeKills {
  private val Stream = "numbers"
  private val Keys = 499
  private val Shards = 4
  private val ShardsPerTask = 2
  private val Trickle = 20L
  private val MicroBatches = Seq("--trigger", "rows:100")
  private val Patience = 3.minutes

  def main(args: Array[String]): Unit = ChaosRun.main("real-time-kills", args) { (folder, arguments) =>
    run(
      folder,
      arguments.number("records", 40000),
      arguments.number("kills", 40),
      arguments.number("executors", 2),
      arguments.number("batch", 10),
      arguments.text("mode", "polling"),
      arguments.text("trigger", "realTime") == "mixed",
      arguments.seed()
    )
  }

  /**
   * What one driver did until it was killed, or until the end.
   *
   * @param batches
   *   the number of batches with rows
   */
  final case class Life(isRealTime: Boolean, batches: Int, rows: Int) {
    def json: Json = Json.obj(
      "trigger" -> Json.Str(if (isRealTime) "realTime" else "rows"),
      "batches" -> Json.Num(BigDecimal(batches)),
      "rows" -> Json.Num(BigDecimal(rows))
    )
  }

  /**
   * @param recoveryMillis
   *   for each kill, the milliseconds until a record of each shard was handed over that was put after the kill
   */
  final case class Outcome(
      verdict: HandedVerdict,
      kills: Seq[Kill],
      recoveryMillis: Seq[Long],
      lives: Seq[Life],
      seconds: Double,
      seed: Long
  ) extends ChaosOutcome {
    override def isRight: Boolean = verdict.isRight

    /** Returns the times after kills of executors, or of the driver. */
    private def recovery(ofDriver: Boolean): Json = Json.Arr(kills.zip(recoveryMillis).collect {
      case (kill, millis) if kill.executor.isEmpty == ofDriver => Json.Num(BigDecimal(millis))
    }.toVector)

    override def json: String = {
      val facts = Seq(
        "test" -> Json.Str("real-time-kills"),
        "seed" -> Json.Num(BigDecimal(seed)),
        "executorKills" -> Json.Num(BigDecimal(kills.count(_.executor.nonEmpty))),
        "driverKills" -> Json.Num(BigDecimal(kills.count(_.executor.isEmpty))),
        "executorRecoveryMillis" -> recovery(ofDriver = false),
        "driverRecoveryMillis" -> recovery(ofDriver = true),
        "lives" -> Json.Arr(lives.map(_.json).toVector),
        inSeconds(seconds)
      )
      Json.render(Json.obj(facts ++ verdict.fields: _*))
    }
  }

  def run(
      folder: Path,
      records: Int,
      kills: Int,
      executors: Int,
      batchSeconds: Int,
      mode: String,
      isMixed: Boolean,
      seed: Long
  ): Outcome = {
    val began = System.nanoTime
    Using.Manager { use =>
      val emulator = use(new EmulatorProcess(log = Some(folder.resolve("emulator.log"))))
      emulator.createStream(Stream, Shards)
      val producer = use(new Producer(emulator.endpoint, Stream, Keys))
      val cluster = use(new StandaloneCluster(folder, workers = 1, executorsPerWorker = executors))
      val query = use(new QueryProcess(folder, arguments(cluster, emulator.endpoint, batchSeconds, mode)))
      val killer = new Killer(folder, query, cluster, executors, isMixed, new Random(seed))
      val perKill = records / (kills + 1)
      val done = (1 to kills).map { number =>
        producer.allow(number.toLong * perKill)
        producer.awaitAll()
        killer.awaitRows(producer.count)
        killer.awaitRowsOfBatch(more = producer.allow(producer.count + Trickle))
        val kill = if (number % 2 == 1) killer.killExecutor() else killer.killDriver()
        val recovery = killer.recover(producer)
        println(
          s"kill $number: ${kill.executor.fold("the driver")(id => s"executor $id")} in batch ${kill.batches.head}; " +
            s"rows of all shards after $recovery ms"
        )
        kill -> recovery
      }
      producer.allow(records.toLong)
      producer.awaitAll()
      killer.awaitRows(producer.count)
      query.kill()
      val (all, puts) = (done.map(_._1), Puts(Stream, producer.count.toInt, producer.sequenceNumber))
      val verdict = HandedVerdict.of(killer.rows, all, puts)
      Outcome(verdict, all, done.map(_._2), killer.lives, (System.nanoTime - began) / 1e9, seed)
    }.get
  }

  private def arguments(cluster: StandaloneCluster, endpoint: String, batchSeconds: Int, mode: String): Seq[String] = {
    val source = QueryOptions.source(endpoint, mode) + ("shardsPerTask" -> ShardsPerTask.toString)
    val session = cluster.settings ++ Map(
      "spark.sql.streaming.realTimeMode.minBatchDuration" -> "1s",
      // From Spark 4.3 on, real-time mode refuses checkpoints of micro-batches with another format.
      "spark.sql.streaming.stateStore.checkpointFormatVersion" -> "2"
    )
    Seq("--master", cluster.master, "--streams", Stream, "--trigger", s"realTime:$batchSeconds seconds") ++
      QueryProcess.named("source", source) ++ QueryProcess.named("conf", session)
  }

  /** Watches the rows and the checkpoint of the query, and kills its processes. */
  final private class Killer(
      folder: Path,
      query: QueryProcess,
      cluster: StandaloneCluster,
      executors: Int,
      isMixed: Boolean,
      random: Random
  ) {
    private val handed = new HandedRows(folder.resolve("output"))

    /** The first batch whose rows may change, and the numbers of all rows before it. */
    private var fixed = (0L, Set.empty[Long])

    def rows: Seq[HandedRow] = handed.rows()

    /** Returns what each driver did, in their order. */
    def lives: Seq[Life] = rows.groupBy(_.app).toSeq.sortBy(_._1).zipWithIndex.map { case ((_, of), startsBefore) =>
      Life(isRealTime(startsBefore), of.map(_.batch).distinct.size, of.size)
    }

    /** Starts the query if it does not run, and waits until so many different records were handed over. */
    def awaitRows(count: Long): Unit = {
      start()
      await(s"$count records")(records.size >= count)
    }

    /**
     * Starts the query if it does not run, and puts records until one of each shard was handed over. Returns how many
     * milliseconds after the call that was.
     */
    def recover(producer: Producer): Long = {
      val (began, from, batch) = (System.currentTimeMillis, producer.count, running.toLong)
      // The executors of a killed driver hand over rows until they notice.
      val orphans = Option.when(query.handle.isEmpty)(lastApp)
      start()
      def firstOfShard = handed.rows(batch)
        .filter(row => row.record.number >= from && !orphans.contains(row.app))
        .groupMapReduce(_.record.shard)(_.millis)(math.min)
      await("rows of every shard after a kill") {
        producer.allow(producer.count + Trickle)
        firstOfShard.size == Shards
      }
      firstOfShard.values.max - began
    }

    private def start(): Unit =
      if (query.handle.isEmpty) query.start(if (isRealTime(query.starts)) Nil else MicroBatches)

    /**
     * Waits until the running real-time batch has handed over rows, for which `more` is called. Does not wait for those
     * of a micro-batch, which hardly takes longer than it takes to look.
     */
    def awaitRowsOfBatch(more: => Unit): Unit = await("rows of the running batch") {
      more
      !isRealTime(query.starts - 1) || handed.rows(running.toLong).nonEmpty
    }

    private def isRealTime(startsBefore: Int): Boolean = !isMixed || startsBefore % 2 == 0

    def killExecutor(): Kill = {
      await(s"$executors executors")(cluster.executors.size == executors)
      query.letRun(moment)
      val app = lastApp
      val before = running
      // Prefer one whose task has handed over rows in this batch.
      val busy = handed.rows(before.toLong).filter(_.app == app).map(_.executor.toInt).toSet
      val (id, victim) = random.shuffle(cluster.executors).minBy { case (one, _) => !busy(one) }
      victim.destroyForcibly()
      victim.onExit.join()
      Kill(before to running, app, Some(id.toString))
    }

    def killDriver(): Kill = {
      query.letRun(moment)
      val before = running
      query.kill()
      Kill(before to running, lastApp, None)
    }

    private def moment: FiniteDuration = random.nextInt(500).millis

    /** The batch after the last one that was committed. */
    private def running: Int = {
      val commits = folder.resolve("checkpoint").resolve("commits")
      if (Files.isDirectory(commits))
        Using.resource(Files.list(commits))(
          _.iterator.asScala.flatMap(_.getFileName.toString.toIntOption).maxOption.fold(0)(_ + 1)
        )
      else 0
    }

    private def lastApp: String = rows.map(_.app).max

    private def records: Set[Long] = {
      val (from, known) = fixed
      val recent = handed.rows(from)
      // Tasks that were killed may still hand over rows of the batch that was running.
      val until = math.max(from, running - 2L)
      fixed = (until, known ++ recent.filter(_.batch < until).map(_.record.number))
      known ++ recent.map(_.record.number)
    }

    private def await(what: String)(condition: => Boolean): Unit = {
      val deadline = Patience.fromNow
      while (!condition) {
        if (deadline.isOverdue()) throw new IllegalStateException(s"not within $Patience: $what; see $folder")
        query.letRun(200.millis)
      }
    }
  }
}
