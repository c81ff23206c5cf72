package org.sparkkinesis.simulation.read

import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.sparkkinesis.simulation.common._
import org.sparkkinesis.simulation.metadata.LogicalStream
import org.sparkkinesis.simulation.read.member.MemberCounts
import org.sparkkinesis.simulation.read.schedule.{ReadAction, ReadScenario}
import org.sparkkinesis.simulation.spark._

/** The counts of one run. */
final case class ReadOutcome(
    records: Int,
    delivered: Int,
    virtualMillis: Long,
    queries: Int,
    losses: Int,
    failures: Vector[String],
    calls: Map[String, Int],
    throttled: Map[String, Int],
    faults: Map[String, Int],
    slowestMillis: Long,
    liveBatches: Int,
    members: Option[MemberCounts]
)

/**
 * Runs one scenario with the connector's reading side against models of the service and of Spark. Throws a
 * [[Violation]].
 *
 * @param spoil
 *   returns the sink that a broken product would have
 */
final class ReadSimulation(
    scenario: ReadScenario,
    trace: String => Unit = _ => (),
    spoil: BatchSink => BatchSink = identity[BatchSink] _
) {
  import ReadAction._
  import ReadSimulation._

  private val world = new ReadWorld(scenario, trace, spoil)
  import world.{ledger, service, tell, time, verdict}

  private var requested = Option.empty[Start]
  private var running = Option.empty[QueryRun]
  private var queries = 0
  private var isHealed = false
  private var failures = Vector.empty[String]
  private val faults = mutable.TreeMap.empty[String, Int]

  def run(): ReadOutcome = {
    val end = scenario.actions.foldLeft(0L) {
      case (at, Advance(millis)) => at + millis
      case (at, action) =>
        time.scheduler.schedule(at.millis)(perform(action))
        at
    }
    while (time.elapsedMillis < end || requested.nonEmpty) {
      time.waitFor((end - time.elapsedMillis).max(0).millis)(requested.nonEmpty)
      requested.foreach { start =>
        requested = None
        query(start, endMillis = end)
      }
    }
    finish()
    ReadOutcome(
      ledger.records,
      ledger.deliveredCount,
      time.nowMillis - StartMillis,
      queries,
      ledger.losses.size,
      failures,
      service.calls.total,
      service.calls.throttled,
      faults.toMap,
      ledger.slowestMillis,
      ledger.liveBatches,
      world.members.map(_.counts)
    )
  }

  private def perform(action: ReadAction): Unit = if (!isHealed) {
    tell(ScalaText(action))
    carryOut(action)
  }

  private def carryOut(action: ReadAction): Unit = action match {
    case start: Start => if (running.isEmpty) requested = Some(start)
    case Stop => running.foreach(_.thread.stop())
    case Kill(steps) => ofRunning("Kill")(_.driver.killAfter(steps))
    case LoseExecutor(index) => ofExecutor("LoseExecutor", index)(_.lose(_))
    case KillExecutor(index, steps) => ofExecutor("KillExecutor", index)(_.loseAfter(_, steps))
    case Freeze(index, millis) =>
      world.trouble(time.nowMillis + millis)
      ofExecutor("Freeze", index)(_.freeze(_, millis))
    case AddExecutor => running.foreach(_.addExecutor())
    case Fault(fault, millis) =>
      count(fault.productPrefix)
      world.trouble(time.nowMillis + millis)
      service.faults.add(fault, time.nowMillis + millis)
    case LoseMessages(percent, millis) =>
      count("LoseMessages")
      world.trouble(time.nowMillis + millis)
      world.wireFaults.loseFor(millis, percent)
    case Skew(millis) =>
      count("Skew")
      world.skewMillis = millis
    case SkewExecutors(millis) =>
      count("SkewExecutors")
      world.executorSkewMillis = millis
    case Suspend(millis) =>
      count("Suspend")
      world.suspend(millis)
      verdict.progressLost()
    case Name(stream, state) => ofLogical(_.name(stream % scenario.setup.streams, state))
    case Migrate(from, to) =>
      ofLogical(_.migrate(from % scenario.setup.streams, to % scenario.setup.streams))
    case FailMetadata(fault, millis) => ofLogical { logical =>
        count(s"Metadata${fault.productPrefix}")
        world.trouble(time.nowMillis + millis)
        logical.fail(fault, millis)
      }
    case other =>
      other match {
        case Recreate(_, downMillis) =>
          count("Recreate")
          world.deleted(downMillis)
        case _ => ()
      }
      world.streams.perform(other)
  }

  private def ofLogical(body: LogicalStream => Unit): Unit = world.logical.foreach(body)

  private def count(fault: String): Unit = faults(fault) = faults.getOrElse(fault, 0) + 1

  private def ofRunning(fault: String)(body: QueryRun => Unit): Unit = running.foreach { query =>
    count(fault)
    body(query)
  }

  private def ofExecutor(fault: String, index: Int)(body: (SimulatedCluster, String) => Unit): Unit =
    if (running.exists(_.cluster.executorsNow.nonEmpty)) ofRunning(fault) { query =>
      body(query.cluster, query.cluster.executorsNow(index % query.cluster.executorsNow.size).name)
    }

  /** Ends all faults after the last action and runs the query: every record must be delivered or reported as lost. */
  private def finish(): Unit = {
    heal()
    time.limit(PatienceMillis.millis, "the last query")
    var rounds = 0
    var failOnDataLoss = true
    var isDone = false
    while (!isDone) {
      rounds += 1
      if (rounds > LastRounds)
        throw new Violation("failing", s"the query fails again and again: ${failures.takeRight(3)}")
      val failed =
        query(Start(QueryTrigger.AvailableNow, efo = rounds % 2 == 0 && usesFanOut, failOnDataLoss), Long.MaxValue)
      isDone = failed.isEmpty
      if (failed.exists(verdict.isLoss)) failOnDataLoss = false
    }
    verdict.atEnd()
    val runs = queries + world.executorsSoFar + world.logical.fold(0)(_.changes.toInt)
    verdict.called(
      service.calls.total,
      service.calls.throttled,
      runs,
      world.directReads,
      world.moves,
      world.unheardMoves
    )
  }

  private def usesFanOut: Boolean = scenario.actions.exists { case start: Start => start.efo; case _ => false }

  private def heal(): Unit = {
    isHealed = true
    world.heal()
  }

  /**
   * Runs the query until it ends, is stopped or killed. A continuous query is stopped at the end of the scenario,
   * when it has caught up.
   *
   * @return
   *   the failure, if there is one
   */
  private def query(start: Start, endMillis: Long): Option[Throwable] = {
    queries += 1
    tell(s"query $queries: ${ScalaText(start)}")
    val one = new QueryRun(world, start)
    running = Some(one)
    if (!isHealed) stopAtEnd(one.thread, endMillis)
    try {
      val began = time.nowMillis
      one.run()
      if (start.trigger == QueryTrigger.AvailableNow && !one.thread.isStopped) {
        // A record that is put after the start may have an earlier arrival time.
        val surelyThere = began - scenario.setup.model.arrivalJitterMillis
        verdict.drained(surelyThere + math.min(0, world.skewMillis), world.isReadSince(began))
      }
      if (one.hasLooked) verdict.noted()
      None
    } catch {
      case violation: Violation => throw violation
      case _: ProcessKilled => None
      case _: InterruptedException if one.thread.isStopped =>
        if (one.hasLooked) verdict.noted()
        None
      case NonFatal(failure) =>
        verdict.failed(failure, start.failOnDataLoss)
        tell(s"query $queries failed: $failure")
        failures :+= failure.toString.take(300)
        Some(failure)
    } finally {
      tell(s"query $queries ended")
      running = None
      one.driver.kill()
    }
  }

  private def stopAtEnd(thread: QueryThread, endMillis: Long): Unit = {
    time.scheduler.schedule((endMillis - time.elapsedMillis).max(0).millis) {
      heal()
      time.limit(PatienceMillis.millis, "a query that runs")
      stopWhenDone(thread, time.nowMillis + CatchUpMillis)
    }
    ()
  }

  private def stopWhenDone(thread: QueryThread, latestMillis: Long): Unit =
    if (ledger.missing.isEmpty || time.nowMillis >= latestMillis) thread.stop()
    else {
      time.scheduler.schedule(5.seconds)(stopWhenDone(thread, latestMillis))
      ()
    }
}

object ReadSimulation {
  val StartMillis = 1_780_000_000_000L

  /** Time limit of the last query in milliseconds. */
  private val PatienceMillis = 12 * 3600000L

  /** Time limit for a running query to catch up at the end, in milliseconds. */
  private val CatchUpMillis = 2 * 3600000L
  private val LastRounds = 6
}
