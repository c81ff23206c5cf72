package org.sparkkinesis.simulation.write.schedule

import scala.util.Random

import org.sparkkinesis.service.{Operation, ServiceErrorKind}
import org.sparkkinesis.simulation.model.{ModelSettings, ServiceFault}

/** Creates the scenario of a seed. */
object WriteScenarios {
  import WriteAction._

  private val Second = 1000L
  private val Minute = 60 * Second

  /**
   * Shortest time in which a stream is deleted and created again. The sink relies on 2 seconds from the last answer of
   * the old stream, which can be a listing while it is DELETING, to the first one of the new stream.
   */
  private val DownMillis = 5 * Second

  def apply(seed: Long, steps: Int): WriteScenario =
    new Maker(new Random(seed * 0x9e3779b97f4a7c15L + 2)).scenario(seed, steps)

  /** Creates the scenario of a seed whose rows go to a logical stream. */
  def routed(seed: Long, steps: Int): WriteScenario =
    RouteScenarios.of(apply(seed, steps), new Random(seed * 0xbf58476d1ce4e5b9L + 9))

  final private class Maker(random: Random) {
    private val isCalm = random.nextInt(4) == 0
    private val accounts = one(1, 1, 2)
    private val hasUsersStrategy = random.nextInt(5) == 0

    private def chance(percent: Int): Boolean = random.nextInt(100) < percent
    private def one[A](items: A*): A = items(random.nextInt(items.size))
    private def between(least: Long, most: Long): Long = least + (random.nextDouble() * (most - least)).toLong

    def scenario(seed: Long, steps: Int): WriteScenario = {
      val actions = Vector.newBuilder[WriteAction]
      actions += batch()
      val count = math.max(4, steps / 4 + random.nextInt(math.max(1, steps * 3 / 4)))
      (1 to count).foreach { _ =>
        actions += pause()
        actions += action()
      }
      WriteScenario(seed, setup(), actions.result())
    }

    private def setup(): WriteSetup = WriteSetup(
      shards = Vector.fill(accounts)(1 + random.nextInt(4)),
      targets = one(
        Vector(WriteTarget.Name),
        Vector(WriteTarget.Name, WriteTarget.Arn(0)),
        Vector(WriteTarget.Name, WriteTarget.Arn(accounts - 1))
      ),
      executors = 1 + random.nextInt(2),
      tasks = 1 + random.nextInt(3),
      rowPauseMillis = one(0, 0, 10, 200),
      failPercent = one(0, 0, 10),
      speculationPercent = one(0, 0, 20),
      hashKeyPercent = one(0, 0, 30),
      model = ModelSettings(
        latencyMillis = one(5, 20, 200),
        shardsPerPage = one(1, 2, 100),
        writesPerSecond = one(1000, 1000, 50)
      ),
      options = options()
    )

    private def options(): Map[String, String] = {
      val buffer = Map(
        "maxBatchSize" -> one("1", "3", "10", "500"),
        "maxTimeInBuffer" -> one("10ms", "100ms", "1s"),
        "maxInFlightRequests" -> one("1", "2", "5", "50"),
        "maxBufferedRecords" -> one("1", "5", "50", "10000"),
        "maxBufferedBytes" -> one("1k", "10k", "64m"),
        "requestTimeout" -> one("500ms", "2s", "10s"),
        "deliveryTimeout" -> one("1m", "2m", "10m", "infinite")
      )
      val order =
        if (chance(60)) Map("ordering" -> "key")
        else if (chance(50)) Map("ordering" -> "bestEffort")
        else Map.empty[String, String]
      val packs = if (chance(60)) Map("aggregation" -> "true") else Map.empty[String, String]
      val lanes = if (chance(20)) Map("shardLimits" -> "false") else Map.empty[String, String]
      val strategy =
        if (hasUsersStrategy) classOf[UnreliableStrategy].getName else one("aimd", "aimd", "batchAndDelay", "none")
      buffer ++ order ++ packs ++ lanes + ("rateLimiting" -> strategy)
    }

    private def pause(): Advance =
      Advance(one(between(1, 300), between(300, 5 * Second), between(5 * Second, 30 * Second)))

    private def batch(): Batch = Batch(1 + random.nextInt(one(5, 30, 100)), one(1, 3, 20), one(30, 300, 2000))

    private def action(): WriteAction = random.nextInt(if (isCalm) 60 else 100) match {
      case n if n < 36 => batch()
      case n if n < 43 => Split(random.nextInt(accounts), random.nextInt(8))
      case n if n < 49 => Merge(random.nextInt(accounts), random.nextInt(8))
      case n if n < 52 => KillTask(random.nextInt(3))
      case n if n < 55 => LoseExecutor(random.nextInt(3))
      case n if n < 57 => Restart
      case n if n < 60 => if (hasUsersStrategy) BreakStrategy(one(1, 3, 20), between(1, 20 * Second)) else batch()
      case n if n < 95 => Fault(fault(), between(100, one(2 * Second, 10 * Second, Minute)))
      case _ => Recreate(random.nextInt(accounts), 1 + random.nextInt(4), between(DownMillis, 2 * DownMillis))
    }

    private def fault(): ServiceFault = one(
      ServiceFault.Failing(
        Some(Operation.PutRecords),
        one(ServiceErrorKind.Internal, ServiceErrorKind.Network),
        one(10, 50, 100)
      ),
      ServiceFault.Failing(Some(Operation.PutRecords), ServiceErrorKind.Throttled, one(20, 80)),
      ServiceFault.Failing(None, one(ServiceErrorKind.Internal, ServiceErrorKind.Network), one(10, 50, 100)),
      ServiceFault.Failing(
        Some(one(Operation.ListShards, Operation.DescribeStreamSummary)),
        one(ServiceErrorKind.LimitExceeded, ServiceErrorKind.Internal),
        one(50, 100)
      ),
      ServiceFault.Unreachable(one("executor-1", "*")),
      ServiceFault.LostAnswers(one(10, 50, 100)),
      ServiceFault.SilentAnswers(one(10, 50, 100)),
      ServiceFault.SlowPuts(one(300, 3000, 30000)),
      ServiceFault.RejectedEntries("ProvisionedThroughputExceededException", one(10, 50)),
      ServiceFault.RejectedEntries("InternalFailure", one(10, 50)),
      ServiceFault.StaleListing(1 + random.nextInt(20)),
      ServiceFault.ListingHoles(1 + random.nextInt(4))
    )
  }
}
