package org.sparkkinesis.chaos

import java.nio.file.Path

import scala.concurrent.duration._
import scala.util.{Random, Using}

import org.sparkkinesis.chaos.query.{QueryOptions, QueryProcess}
import org.sparkkinesis.kit.process.EmulatorProcess

/**
 * Kills a query with SIGKILL at random points and restarts it from its checkpoint, while a producer writes:
 * `KillRestart [--records N] [--shards N] [--restarts N] [--actions 1|2] [--seed S] [--conf.NAME VALUE]`. The last
 * argument sets a Spark setting and can be repeated.
 *
 * Prints the seed first and one JSON object on the last line. Exits with 1 when a record was lost or duplicated.
 */
object KillRestart {
  private val Stream = "numbers"
  private val Keys = 499

  def main(args: Array[String]): Unit = ChaosRun.main("kill-restart", args) { (folder, arguments) =>
    run(
      folder,
      arguments.number("records", 1000000),
      arguments.number("shards", 8),
      arguments.number("restarts", 20),
      arguments.number("actions", 1),
      arguments.seed(),
      arguments.under("conf.")
    )
  }

  /**
   * The result of a run.
   *
   * @param killPoints
   *   the number of batches that each life had written when it was killed
   */
  final case class Outcome(verdict: Verdict, killPoints: Seq[Int], seconds: Double, seed: Long) extends ChaosOutcome {
    override def isRight: Boolean = verdict.isRight

    override def json: String =
      f"""{"test": "kill-restart", "seed": $seed, "kills": ${killPoints.size}, "seconds": $seconds%.1f, """ +
        s""""batchesBeforeKill": ${killPoints.mkString("[", ", ", "]")}, ${verdict.json}}"""
  }

  def run(
      folder: Path,
      records: Int,
      shards: Int,
      restarts: Int,
      actions: Int,
      seed: Long,
      settings: Map[String, String] = Map.empty
  ): Outcome = {
    val began = System.nanoTime
    val random = new Random(seed)
    Using.Manager { use =>
      val emulator = use(new EmulatorProcess(log = Some(folder.resolve("emulator.log"))))
      emulator.createStream(Stream, shards)
      val producer = use(new Producer(emulator.endpoint, Stream, Keys))
      val perLife = records / (restarts + 1)
      val source = QueryOptions.connection(emulator.endpoint) ++ Map(
        "initialPosition" -> "trim_horizon",
        "minFetchPeriod" -> "20ms",
        "maxRecordsPerTrigger" -> math.max(1, perLife / 5).toString
      )
      val options = QueryProcess.named("source", source) ++ QueryProcess.named("conf", settings)
      val query =
        use(new QueryProcess(
          folder,
          Seq("--master", "local[2]", "--streams", Stream, "--actions", actions.toString) ++ options
        ))
      val killPoints = (1 to restarts).map { life =>
        producer.allow(life.toLong * perLife)
        query.start()
        val batches = waitForKillPoint(query, random, life)
        query.kill()
        println(s"kill $life after $batches batches of this life, ${query.rows} rows so far")
        batches
      }
      producer.allow(records.toLong)
      query.start()
      producer.awaitAll()
      query.awaitRows(records.toLong, 10.minutes)
      query.kill()
      val verdict = Verdict.of(query.files, Seq(Puts(Stream, records, producer.sequenceNumber)))
      Outcome(verdict, killPoints, (System.nanoTime - began) / 1e9, seed)
    }.get
  }

  /**
   * Kills some lives during their start and others shortly after a batch; both kinds use the same number of random
   * draws.
   */
  private def waitForKillPoint(query: QueryProcess, random: Random, life: Int): Int = {
    val duringStart = life > 1 && random.nextInt(5) == 0
    val batches = random.nextInt(6)
    val moment = random.nextInt(400).millis
    val early = random.nextInt(6000).millis
    if (duringStart) query.letRun(early)
    else {
      if (!query.awaitBatches(batches, 3.minutes))
        throw new IllegalStateException(s"life $life did not write $batches batches; see ${query.log}")
      query.letRun(moment)
    }
    query.batchesOfLife
  }
}
