package org.sparkkinesis.simulation.read.schedule

import scala.util.Random

import org.sparkkinesis.model.KinesisQuotas
import org.sparkkinesis.service.Operation.{GetRecords, GetShardIterator, ListShards, SubscribeToShard}
import org.sparkkinesis.service.ServiceErrorKind
import org.sparkkinesis.simulation.model.{ModelSettings, ServiceFault}
import org.sparkkinesis.simulation.spark.{QueryTrigger, TaskSettings}

/** Creates the scenario of a seed. */
object ReadScenarios {
  import ReadAction._

  private val Second = 1000L
  private val Minute = 60 * Second
  private val Hour = 60 * Minute

  def apply(seed: Long, steps: Int): ReadScenario = {
    val random = new Random(seed * 0x9e3779b97f4a7c15L + 1)
    val plain = new Maker(random).scenario(seed, steps)
    val sizes = new Random(seed * 0x9e3779b97f4a7c15L + 3)
    val sized = if (sizes.nextInt(LargeOneOf) == 0) withLargeRecords(plain, Large(sizes.nextInt(Large.size))) else plain
    val modes = new Random(seed * 0x9e3779b97f4a7c15L + 5)
    val timed = if (modes.nextInt(RealTimeOneOf) == 0) withRealTime(sized, modes) else sized
    val ends = new Random(seed * 0x9e3779b97f4a7c15L + 7)
    val ended = if (ends.nextBoolean()) withLateEnds(timed) else timed
    val lives = new Random(seed * 0x9e3779b97f4a7c15L + 9)
    val lived = if (lives.nextInt(RecreatedOneOf) == 0) RecreatedScenarios.of(ended, lives) else ended
    withFreezes(lived, new Random(seed * 0x9e3779b97f4a7c15L + 11))
  }

  /** In one of this many scenarios, executors stand still for a while. */
  private val FrozenOneOf = 6

  private def withFreezes(scenario: ReadScenario, random: Random): ReadScenario =
    if (random.nextInt(FrozenOneOf) == 0) FrozenScenarios.of(scenario, random) else scenario

  /** In one of this many scenarios, the stream is recreated and resharded while the first query runs. */
  private val RecreatedOneOf = 16

  private def withLateEnds(scenario: ReadScenario): ReadScenario =
    scenario.copy(setup = scenario.setup.copy(model = scenario.setup.model.copy(lateEnds = true)))

  /** Creates the scenario of a seed whose queries read a logical stream. */
  def logical(seed: Long, steps: Int): ReadScenario = withFreezes(
    LogicalScenarios.of(
      new Maker(new Random(seed * 0x9e3779b97f4a7c15L + 1)).scenario(seed, steps),
      new Random(seed * 0xbf58476d1ce4e5b9L + 7)
    ),
    new Random(seed * 0xbf58476d1ce4e5b9L + 11)
  )

  /** One in this many scenarios has queries in real-time mode. */
  private val RealTimeOneOf = 4

  /** The options that real-time mode refuses, or that require a number of task slots. */
  private[schedule] val NotInRealTime = Set(
    "maxRecordsPerTrigger",
    "maxBytesPerTrigger",
    "minRecordsPerTrigger",
    "maxTriggerDelay",
    "alignShards",
    "shardsPerTask"
  )

  /** Runs most of the continuous queries in real-time mode, and the others in micro-batches. */
  private def withRealTime(scenario: ReadScenario, random: Random): ReadScenario = {
    val actions = scenario.actions.map {
      case start @ Start(QueryTrigger.ProcessingTime(millis), _, _) if random.nextInt(4) > 0 =>
        start.copy(trigger = QueryTrigger.RealTime(math.max(5 * Second, millis)))
      case other => other
    }
    val options = scenario.setup.options.filterNot { case (name, _) => NotInRealTime(name) }
    scenario.copy(setup = scenario.setup.copy(options = options), actions = actions)
  }

  /** One in this many scenarios has large records. */
  private val LargeOneOf = 12

  /** Sizes of large records in bytes: many per response, few, and one, which is the service's maximum. */
  private val Large = Vector(100000, KinesisQuotas.MiB - 1000, 10 * KinesisQuotas.MiB - 1000)

  /** The largest number of bytes that one action puts. */
  private val MostBytes = 10 * KinesisQuotas.MiB

  private def withLargeRecords(scenario: ReadScenario, bytes: Int): ReadScenario = {
    def few(count: Int): Int = math.min(count, MostBytes / bytes)
    val actions = scenario.actions.map {
      case Put(count) => Put(few(count))
      case PutTo(shard, count) => PutTo(shard, few(count))
      case other => other
    }
    scenario.copy(setup = scenario.setup.copy(recordBytes = bytes), actions = actions)
  }

  final private class Maker(random: Random) {

    /** A slow scenario has long periods, so that hours of it do not have too many events. */
    private val isSlow = random.nextInt(3) == 0
    private val usesFanOut = random.nextInt(3) == 0
    private val goesOnAfterLoss = random.nextInt(3) == 0
    private val isCalm = random.nextInt(4) == 0

    private def chance(percent: Int): Boolean = random.nextInt(100) < percent
    private def one[A](items: A*): A = items(random.nextInt(items.size))
    private def between(least: Long, most: Long): Long = least + (random.nextDouble() * (most - least)).toLong

    def scenario(seed: Long, steps: Int): ReadScenario = {
      val actions = Vector.newBuilder[ReadAction]
      actions += Put(1 + random.nextInt(20))
      if (chance(50)) actions += Advance(between(Second, if (isSlow) 30 * Hour else Hour))
      actions += start()
      val count = math.max(4, steps / 4 + random.nextInt(math.max(1, steps * 3 / 4)))
      (1 to count).foreach { _ =>
        actions += pause()
        actions ++= next()
      }
      val made = setup()
      ReadScenario(seed, withHeap(made.copy(options = made.options ++ alignment())), actions.result())
    }

    private def setup(): ReadSetup = ReadSetup(
      shards = 1 + random.nextInt(4),
      initialPosition = one("trim_horizon", "trim_horizon", "latest", "at_timestamp"),
      positionAgeMillis = one(Second, Minute, Hour, 23 * Hour, 30 * Hour),
      executors = 1 + random.nextInt(3),
      model = ModelSettings(
        latencyMillis = one(5, 20, 200),
        recordsPerAnswer = one(2, 10, 1000),
        shardsPerPage = one(1, 2, 100),
        arrivalJitterMillis = one(0, 0, 50),
        idleEventMillis = if (isSlow) 15 * Second else 5 * Second
      ),
      tasks = TaskSettings(
        failPercent = one(0, 0, 10),
        speculationPercent = one(0, 0, 20),
        elsewherePercent = one(0, 5, 50),
        secondActionPercent = one(0, 0, 30)
      ),
      options = options(),
      streams = one(1, 1, 1, 2, 3)
    )

    private def options(): Map[String, String] = {
      val pace =
        if (isSlow) Map("minFetchPeriod" -> "4m", "shardFetchInterval" -> "20m")
        else Map("minFetchPeriod" -> one("250ms", "1s", "3s"), "shardFetchInterval" -> one("2s", "10s"))
      val limits = one(
        Map.empty[String, String],
        Map("maxRecordsPerTrigger" -> one("1", "5", "30")),
        Map("maxBytesPerTrigger" -> "1k"),
        Map("minRecordsPerTrigger" -> "50", "maxTriggerDelay" -> "30s")
      )
      val buffer = if (chance(30)) Map("fetchBufferSize" -> "1048576") else Map.empty[String, String]
      val filter = if (chance(30)) Map("deaggregation.hashRangeFilter" -> "true") else Map.empty[String, String]
      val tasks = if (chance(30)) Map("shardsPerTask" -> one("1", "2")) else Map.empty[String, String]
      pace ++ limits ++ buffer ++ filter ++ tasks
    }

    /** Drawn last, so that the other choices of a seed stay the same. */
    private def withHeap(made: ReadSetup): ReadSetup =
      one(made, made.copy(heapBytes = 40 << 10), made.copy(heapBytes = 400 << 10))

    private def alignment(): Map[String, String] =
      if (chance(20)) Map("alignShards" -> (if (isSlow) one("20m", "6h") else one("2s", "1m"))) else Map.empty

    private def pause(): Advance = Advance(
      if (isSlow) one(between(Second, Minute), between(Minute, 20 * Minute), between(20 * Minute, Hour))
      else one(between(1, Second), between(Second, 5 * Second), between(5 * Second, 20 * Second))
    )

    private def next(): Seq[ReadAction] =
      if (isSlow && chance(12)) down()
      // Rare, because a day of a running query has many events.
      else if (isSlow && chance(1)) Seq(Advance(between(20 * Hour, 30 * Hour)))
      else if (random.nextInt(300) == 0) Seq(Suspend(between(Hour, 50 * Hour)))
      else Seq(action())

    /** Returns actions during which the query is stopped for hours or days while others write and reshard. */
    private def down(): Seq[ReadAction] = {
      val others = (1 to random.nextInt(6)).flatMap(_ => Seq(whileDown(), Advance(between(Minute, 16 * Hour))))
      (if (chance(50)) Stop else Kill(random.nextInt(10))) +: Advance(Minute) +: others :+ start()
    }

    private def whileDown(): ReadAction = random.nextInt(10) match {
      case n if n < 2 => Put(1 + random.nextInt(20))
      case n if n < 4 => PutTo(random.nextInt(4), 1 + random.nextInt(20))
      case n if n < 7 => Split(random.nextInt(8))
      case _ => Merge(random.nextInt(8))
    }

    private def start(): Start = {
      val trigger = one(
        QueryTrigger.ProcessingTime(if (isSlow) Minute else one(100L, Second, 10 * Second)),
        QueryTrigger.ProcessingTime(if (isSlow) Hour else 5 * Second),
        QueryTrigger.AvailableNow,
        QueryTrigger.AvailableNow,
        QueryTrigger.Once
      )
      Start(trigger, usesFanOut && chance(60), !goesOnAfterLoss && chance(90))
    }

    private def action(): ReadAction = random.nextInt(if (isCalm) 60 else 100) match {
      case n if n < 12 => Put(1 + random.nextInt(one(3, 20, 60)))
      case n if n < 18 => PutTo(random.nextInt(4), 1 + random.nextInt(20))
      case n if n < 21 => PutAggregate(1 + random.nextInt(5), random.nextInt(3))
      case n if n < 28 => Split(random.nextInt(8))
      case n if n < 34 => Merge(random.nextInt(8))
      case n if n < 48 => start()
      case n if n < 54 => Stop
      case n if n < 60 => Kill(random.nextInt(one(1, 10, 60)))
      case n if n < 63 => LoseExecutor(random.nextInt(3))
      case n if n < 65 => KillExecutor(random.nextInt(3), random.nextInt(one(1, 10, 60)))
      case n if n < 68 => AddExecutor
      case n if n < 92 => Fault(fault(), between(Second, if (isSlow) Hour else Minute))
      case n if n < 95 => LoseMessages(one(10, 50, 100), between(Second, Minute))
      case n if n < 97 => Skew(one(-1, 1) * one(Second, Minute, 20 * Minute))
      case n if n < 98 => SkewExecutors(one(-1, 1) * one(Second, Minute, 20 * Minute))
      case _ => Recreate(1 + random.nextInt(3), between(2 * Second, 5 * Minute))
    }

    private def fault(): ServiceFault = one(
      ServiceFault.Failing(None, one(ServiceErrorKind.Internal, ServiceErrorKind.Network), one(10, 50)),
      ServiceFault.Failing(
        Some(GetRecords),
        one(ServiceErrorKind.Throttled, ServiceErrorKind.ExpiredIterator),
        one(20, 80)
      ),
      ServiceFault.Failing(Some(GetShardIterator), ServiceErrorKind.Throttled, 50),
      ServiceFault.Failing(
        Some(ListShards),
        one(ServiceErrorKind.LimitExceeded, ServiceErrorKind.ExpiredNextToken),
        50
      ),
      ServiceFault.Failing(
        Some(SubscribeToShard),
        one(ServiceErrorKind.ResourceInUse, ServiceErrorKind.LimitExceeded),
        60
      ),
      ServiceFault.Unreachable(one("driver", "executor", "executor-1", "*")),
      ServiceFault.StaleListing(1 + random.nextInt(20)),
      ServiceFault.ListingHoles(2 + random.nextInt(3)),
      ServiceFault.EndWithoutChildren,
      ServiceFault.EmptyAnswers,
      ServiceFault.SilentSubscriptions
    )
  }
}
