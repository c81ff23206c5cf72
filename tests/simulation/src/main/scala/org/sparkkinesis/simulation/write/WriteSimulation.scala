package org.sparkkinesis.simulation.write

import java.time.Instant

import scala.concurrent.duration._
import scala.util.Random

import org.sparkkinesis.config.Options
import org.sparkkinesis.service.Operation
import org.sparkkinesis.simulation.common._
import org.sparkkinesis.simulation.metadata.LogicalStream
import org.sparkkinesis.simulation.model.{ModelKinesis, ServiceFault}
import org.sparkkinesis.simulation.write.route.{RouteDriver, RouteVerdict}
import org.sparkkinesis.simulation.write.schedule._
import org.sparkkinesis.simulation.write.task._
import org.sparkkinesis.sink.kinesis.KinesisSinkSettings

/**
 * The counts of one run.
 *
 * @param switches
 *   micro-batches with other routes than the one before
 * @param repeats
 *   micro-batches that ran again with the same routes
 * @param streamsLeft
 *   how often a task has left a stream because of a failure
 */
final case class WriteOutcome(
    rows: Long,
    stored: Long,
    duplicates: Long,
    batches: Int,
    attempts: Long,
    failures: Vector[String],
    virtualMillis: Long,
    switches: Long,
    repeats: Long,
    streamsLeft: Long
)

/** Runs one scenario with the real sink against models of the service and of Spark's tasks. Throws a [[Violation]]. */
final class WriteSimulation(scenario: WriteScenario, trace: String => Unit = _ => ()) {
  import WriteAction._
  import WriteSimulation._

  private val setup = scenario.setup
  private val random = new Random(scenario.seed)
  private val time = new SimulatedTime(StartMillis)
  private val threads = new SimulatedThreads(time.scheduler)
  private val service = new ModelKinesis(time.scheduler, random, setup.model)
  private val streams = new StreamTroubles(service, setup)
  private val strategies = new StrategyFaults(random, () => time.nowMillis)
  private val settings = KinesisSinkSettings.of(Options.read(setup.options))
  private val doubts = new PlacementDoubts
  private val ledger = new WriteLedger(setup.ordered, () => time.nowMillis, doubts)
  private val pace = new PutPace(settings.shardLimits, countsRecords = !settings.aggregated)
  private val logical =
    Option.when(setup.isLogical)(new LogicalStream(streams.arns, setup.logical, () => time.nowMillis, random))
  private val verdict = new WriteVerdict(setup, settings.requests, strategies, streams, logical)
  private val routes = new RouteVerdict
  private val driver = logical.map(new RouteDriver(Options.read(setup.options), _, time, threads, random, routes))
  private val query = new WriteQuery(setup, threads, random, attempt(_, _, _, _), driver, fail, tell(_))

  private var executors = Vector.empty[WriterProcess]
  private var executorsMade = 0
  private var lastRow = 0L
  private var batches = 0
  private var attempts = 0L
  private var failures = Vector.empty[String]
  private var failuresAfterHealing = 0
  private var isHealed = false

  def run(): WriteOutcome =
    try {
      streams.create()
      service.onPut(pace.add)
      service.onStored { put =>
        tell(s"${put.shard.id} stores ${text(put.entry.data)}, request ${put.call.number} of ${put.call.process}")
        ledger.add(put)
      }
      (1 to setup.executors).foreach(_ => addExecutor())
      query.start()
      val end = scenario.actions.foldLeft(0L) {
        case (at, Advance(millis)) => at + millis
        case (at, action) =>
          time.scheduler.schedule(at.millis)(perform(action))
          at
      }
      time.scheduler.advance(end.millis)
      heal()
      finish()
      pace.check()
      WriteOutcome(
        lastRow,
        ledger.storedRecords,
        ledger.duplicates,
        batches,
        attempts,
        failures,
        time.nowMillis - StartMillis,
        routes.switches,
        routes.repeats,
        ledger.streamsLeft
      )
    } finally threads.endAll()

  private def tell(what: => String): Unit = trace(s"${Instant.ofEpochMilli(time.nowMillis)} $what")

  private def perform(action: WriteAction): Unit = {
    tell(ScalaText(action))
    action match {
      case batch: Batch => query.add(rows(batch))
      case KillTask(index) =>
        val running = query.attempts
        if (running.nonEmpty) running(index % running.size).kill()
      case LoseExecutor(index) =>
        val lost = executors(index % executors.size)
        executors = executors.filterNot(_ eq lost)
        addExecutor()
        lost.kill()
      case Restart => query.restart()
      case Fault(fault, millis) =>
        verdict.fault()
        if (hidesShards(fault)) doubts.add(time.nowMillis, time.nowMillis + millis)
        service.faults.add(fault, time.nowMillis + millis)
      case BreakStrategy(oneOf, millis) => strategies.begin(math.max(1, oneOf), time.nowMillis + millis)
      case Recreate(_, _, downMillis) =>
        doubts.add(time.nowMillis, time.nowMillis + downMillis)
        streams.perform(action)
      case NameStream(account, state) => logical.foreach(_.name(account % setup.shards.size, state))
      case Migrate(from, to) => logical.foreach(_.migrate(from % setup.shards.size, to % setup.shards.size))
      case FailMetadata(fault, millis) => logical.foreach(_.fail(fault, millis))
      case KillDriver(steps) => driver.foreach(_.killAfter(steps))
      case other => streams.perform(other)
    }
  }

  /** Whether listings fail or are wrong. */
  private def hidesShards(fault: ServiceFault): Boolean = fault match {
    case ServiceFault.Failing(operation, _, _) => operation.forall(_ == Operation.ListShards)
    case _: ServiceFault.Unreachable | _: ServiceFault.StaleListing | _: ServiceFault.ListingHoles => true
    case _ => false
  }

  private def addExecutor(): Unit = {
    executorsMade += 1
    executors :+= new WriterProcess(s"executor-$executorsMade", service, time, threads, random.nextDouble _)
  }

  /** Distributes the rows so that the rows of one key are in one task, as `repartition("partitionKey")` does. */
  private def rows(batch: Batch): WriteBatch = {
    batches += 1
    val all = Vector.fill(batch.rows) {
      lastRow += 1
      val key = random.nextInt(batch.keys)
      val target = setup.targets(random.nextInt(setup.targets.size))
      val hash =
        Option.when(random.nextInt(100) < setup.hashKeyPercent)(BigInt(128, new java.util.Random(random.nextLong())))
      key -> WriteRow(lastRow, batches, target, s"key-$key", hash, 1 + random.nextInt(batch.bytes))
    }
    WriteBatch(batches, Vector.tabulate(setup.tasks)(task => all.filter(_._1 % setup.tasks == task).map(_._2)))
  }

  private def attempt(
      partition: Int,
      rows: Vector[WriteRow],
      routing: Option[TaskRouting],
      ended: (WriteAttempt, AttemptEnd) => Unit
  ): WriteAttempt = {
    attempts += 1
    val executor = executors(random.nextInt(executors.size))
    val fails = !isHealed && rows.nonEmpty && random.nextInt(100) < setup.failPercent
    tell(s"attempt $attempts of task $partition on ${executor.name} begins")
    new WriteAttempt(
      attempts,
      partition,
      rows,
      executor,
      setup,
      settings,
      ledger,
      threads,
      strategies,
      routing,
      random,
      Option.when(fails)(random.nextInt(rows.size)),
      tell(_)
    )(ended)
  }

  private def fail(error: Throwable): Unit = {
    failures :+= error.toString
    verdict.judge(error)
    if (isHealed && !streams.isDown) {
      failuresAfterHealing += 1
      if (failuresAfterHealing > LastFailures)
        throw new Violation("failing", s"tasks fail again and again: ${failures.takeRight(3)}", error)
    }
  }

  private def heal(): Unit = {
    isHealed = true
    service.faults.clear()
    strategies.end()
    logical.foreach(_.heal())
  }

  /** Ends all faults after the last action; every batch must then be committed. */
  private def finish(): Unit =
    try time.scheduler.advanceUntil(Patience)(query.isIdle)
    catch {
      case _: AssertionError =>
        throw new Violation("hang", s"${batches - query.committed} batches are not committed after $Patience")
    }

  private def text(data: Array[Byte]): String = new String(data.take(40), "ISO-8859-1").takeWhile(_ >= ' ')
}

object WriteSimulation {
  val StartMillis: Long = 1_750_000_000_000L

  /** Longer than the time for any backlog at the modelled rates. */
  private val Patience = 6.hours
  private val LastFailures = 20
}
