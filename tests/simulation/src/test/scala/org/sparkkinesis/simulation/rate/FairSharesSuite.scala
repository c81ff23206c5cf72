package org.sparkkinesis.simulation.rate

import scala.concurrent.duration._
import scala.util.Using

import org.sparkkinesis.model.KinesisQuotas
import org.sparkkinesis.suite.TimedSuite

/** Two writers of one stream: how they share its capacity 30 seconds after the second one has begun. */
class FairSharesSuite extends TimedSuite {
  override protected def timeLimit: FiniteDuration = 30.minutes

  private val Shards = 2
  private val capacity = Shards.toDouble * KinesisQuotas.Shard.WriteRecordsPerSecond

  private def options(rateLimiting: String, shardLimits: Boolean, more: (String, String)*) =
    Map("rateLimiting" -> rateLimiting, "shardLimits" -> shardLimits.toString) ++ more

  /** Without limits for shards, `none` does not share, and `aimd` not with its default parameters. */
  private val strategies = Seq(
    options("aimd", shardLimits = true),
    options("aimd", shardLimits = false, "rateLimiting.aimd.decrease" -> "0.8"),
    options("batchAndDelay", shardLimits = true),
    options("batchAndDelay", shardLimits = false),
    options("none", shardLimits = true)
  )

  private val together = Seq[(String, WriteRace => (WriteRace#Writer, () => WriteRace#Writer))](
    "one executor" -> { race =>
      val process = race.process(senders = 2)
      (race.start(process), () => race.start(process))
    },
    "two executors" -> (race => (race.start(race.process(senders = 2)), () => race.start(race.process(senders = 2)))),
    "two applications" -> (race => (race.start(race.process(senders = 1)), () => race.start(race.process(senders = 1))))
  )

  for (options <- strategies; (place, begin) <- together)
    test(s"two writers in $place have 40 to 60 % each with ${shown(options)}") {
      Using.resource(new WriteRace(Shards, options)) { race =>
        val (_, second) = begin(race)
        race.run(15.seconds)
        second()
        race.run(30.seconds)
        val stored = race.run(30.seconds)
        val shares = stored.map(_.toDouble / stored.sum)
        info(f"shares ${shares(0)}%.3f and ${shares(1)}%.3f, ${stored.sum / 30 / capacity}%.3f of the capacity")
        assert(shares.forall(share => share >= 0.4 && share <= 0.6))
        assert(stored.sum / 30 >= 0.95 * capacity)
      }
    }

  private def shown(options: Map[String, String]) =
    options.map { case (option, value) => s"$option=$value" }.toSeq.sorted.mkString(", ")

  test("batchAndDelay pauses neither before the first throttling nor 30 seconds after the last one") {
    Using.resource(new WriteRace(Shards, options("batchAndDelay", shardLimits = false))) { race =>
      val process = race.process(senders = 2)
      val calm = race.start(process, pauseMillis = 10)
      race.run(5.seconds)
      assert((calm.metrics.currentLimit, calm.metrics.throttled) == (0.0, 0L))
      val greedy = race.start(process)
      race.run(10.seconds)
      assert(calm.metrics.currentLimit > 0)
      greedy.stop()
      race.run(20.seconds)
      assert(calm.metrics.currentLimit > 0)
      race.run(40.seconds)
      assert(calm.metrics.currentLimit == 0.0)
    }
  }
}
