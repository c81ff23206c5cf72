package org.sparkkinesis.simulation.read

import java.time.Instant

import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.Random
import scala.util.control.NonFatal

import org.sparkkinesis.simulation.common._
import org.sparkkinesis.simulation.model.ModelKinesis
import org.sparkkinesis.simulation.spark._
import org.sparkkinesis.spark.protocol.{ProtocolCodec, Report}
import org.sparkkinesis.spark.session.CheckpointFiles

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
    slowestMillis: Long
)

/**
 * Runs one scenario with the connector's reading side against models of the service and of Spark. Throws a
 * [[Violation]].
 */
final class ReadSimulation(scenario: ReadScenario, trace: String => Unit = _ => ()) {
  import ReadAction._
  import ReadSimulation._

  private val setup = scenario.setup
  private val random = new Random(scenario.seed)
  private val time = new SimulatedTime(StartMillis)
  private val service = new ModelKinesis(time.scheduler, random, setup.model)
  private val wireFaults = new WireFaults(random, () => time.nowMillis)
  private val checkpoint = new CheckpointFolder
  private val ledger = new ReadLedger(() => time.nowMillis, setup.retentionHours * 3600000L)
  private val streams = new AllStreams(service, ledger, setup, random)
  private val verdict = new ReadVerdict(
    time,
    ledger,
    setup.retentionHours * 3600000L,
    hasExpiredSince,
    () => Option.when(setup.initialPosition == "at_timestamp")(initialTime)
  )

  private var requested = Option.empty[Start]
  private var skewMillis = 0L
  private var executorSkewMillis = 0L
  private var running = Option.empty[Running]
  private var queries = 0
  private var executors = 0
  private var isHealed = false
  private var failures = Vector.empty[String]
  private val faults = mutable.TreeMap.empty[String, Int]

  /** One run of the query. */
  final private class Running(val driver: SimulatedProcess, val thread: QueryThread, val cluster: SimulatedCluster)

  def run(): ReadOutcome = {
    val end = scenario.actions.foldLeft(0L) {
      case (at, Advance(millis)) => at + millis
      case (at, action) =>
        time.scheduler.schedule(at.millis)(perform(action))
        at
    }
    while (time.nowMillis - StartMillis < end || requested.nonEmpty) {
      time.waitFor((end - (time.nowMillis - StartMillis)).max(0).millis)(requested.nonEmpty)
      requested.foreach { start =>
        requested = None
        query(start, endMillis = StartMillis + end)
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
      ledger.slowestMillis
    )
  }

  private def tell(what: => String): Unit = trace(s"${Instant.ofEpochMilli(time.nowMillis)} $what")

  private def perform(action: ReadAction): Unit = if (!isHealed) {
    tell(ScalaText(action))
    carryOut(action)
  }

  private def hasExpiredSince(millis: Long): Boolean = streams.arns.flatMap(service.stream).exists { stream =>
    stream.shards.exists(shard => stream.isExpired(shard, time.nowMillis) && !stream.isExpired(shard, millis))
  }

  private def carryOut(action: ReadAction): Unit = action match {
    case start: Start => if (running.isEmpty) requested = Some(start)
    case Stop => running.foreach(_.thread.stop())
    case Kill(steps) => ofRunning("Kill")(_.driver.killAfter(steps))
    case LoseExecutor(index) => ofExecutor("LoseExecutor", index)(_.lose(_))
    case KillExecutor(index, steps) => ofExecutor("KillExecutor", index)(_.loseAfter(_, steps))
    case AddExecutor => running.foreach(query => addExecutor(query.cluster))
    case Fault(fault, millis) =>
      count(fault.productPrefix)
      service.faults.add(fault, time.nowMillis + millis)
    case LoseMessages(percent, millis) =>
      count("LoseMessages")
      wireFaults.loseFor(millis, percent)
    case Skew(millis) =>
      count("Skew")
      skewMillis = millis
    case SkewExecutors(millis) =>
      count("SkewExecutors")
      executorSkewMillis = millis
    case other =>
      if (other.isInstanceOf[Recreate]) count("Recreate")
      streams.perform(other)
  }

  private def count(fault: String): Unit = faults(fault) = faults.getOrElse(fault, 0) + 1

  private def ofRunning(fault: String)(body: Running => Unit): Unit = running.foreach { query =>
    count(fault)
    body(query)
  }

  private def ofExecutor(fault: String, index: Int)(body: (SimulatedCluster, String) => Unit): Unit =
    if (running.exists(_.cluster.executorsNow.nonEmpty)) ofRunning(fault) { query =>
      body(query.cluster, query.cluster.executorsNow(index % query.cluster.executorsNow.size).name)
    }

  private def addExecutor(cluster: SimulatedCluster): Unit = {
    executors += 1
    cluster.add(s"executor-$executors")
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
  }

  private def usesFanOut: Boolean = scenario.actions.exists { case start: Start => start.efo; case _ => false }

  private def heal(): Unit = {
    isHealed = true
    service.faults.clear()
    wireFaults.clear()
    streams.heal()
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
    val driver = new SimulatedProcess("driver", time, () => skewMillis)
    val thread = new QueryThread
    def environment(process: SimulatedProcess) = new SimulatedEnvironment(
      time,
      process,
      service.client(process.name, () => process.isAlive),
      random,
      thread,
      loss => {
        tell(s"warning of ${process.name}: ${loss.getMessage}")
        verdict.warned(loss)
      }
    )
    val cluster = new SimulatedCluster(
      time,
      driver,
      random,
      wireFaults,
      environment,
      () => executorSkewMillis,
      inspect,
      left => if (left.executorsNow.isEmpty && driver.isAlive) addExecutor(left)
    )
    driver.whenKilled(cluster.killAll())
    (1 to setup.executors).foreach(_ => addExecutor(cluster))
    running = Some(new Running(driver, thread, cluster))
    if (!isHealed) stopAtEnd(thread, endMillis)
    try {
      val began = time.nowMillis
      runOn(driver, thread, cluster, environment(driver), start)
      if (start.trigger == QueryTrigger.AvailableNow && !thread.isStopped)
        verdict.drained(began + math.min(0, skewMillis))
      verdict.noted()
      None
    } catch {
      case violation: Violation => throw violation
      case _: ProcessKilled => None
      case _: InterruptedException if thread.isStopped =>
        verdict.noted()
        None
      case NonFatal(failure) =>
        verdict.failed(failure, start.failOnDataLoss)
        tell(s"query $queries failed: $failure")
        failures :+= failure.toString.take(300)
        Some(failure)
    } finally {
      tell(s"query $queries ended")
      running = None
      driver.kill()
    }
  }

  private def runOn(
      driver: SimulatedProcess,
      thread: QueryThread,
      cluster: SimulatedCluster,
      environment: SimulatedEnvironment,
      start: Start
  ): Unit = {
    // Spark writes the file before `start()` returns.
    if (checkpoint.read("metadata").isEmpty) checkpoint.write(driver, time.nowMillis)("metadata", "{}")
    verdict.started()
    // "Latest" counts from the start.
    if (setup.initialPosition == "latest") ledger.begin(positionMillis)
    val files = new CheckpointFiles {
      override def read(name: String): Option[String] = checkpoint.read(name)
      override def write(name: String, text: String): Unit = {
        tell(s"writes $name: $text")
        try checkpoint.write(driver, time.nowMillis)(name, text)
        finally if (begins(name) && checkpoint.read(name).nonEmpty) ledger.begin(positionMillis)
        if (name == "read-up-to") verdict.noted()
        if (name == "initial-offset") ledger.noted()
      }
      override def delete(name: String): Unit = checkpoint.delete(driver)(name)
      override def startedMillis: Option[Long] = checkpoint.writtenMillis("metadata")
    }
    val tasks = new TaskScheduler(time, driver, () => cluster.executorsNow, setup.tasks, random, thread)
    val source =
      new KinesisSimulatedSource(options(start), files, cluster, environment, () => cluster.executorsNow.size * 2)
    try new MicroBatchQuery(
        time,
        driver,
        checkpoint,
        source,
        start.trigger,
        tasks,
        verdict.watching(ledger, tell(_))(ledger.begin(positionMillis)),
        thread,
        tell(_)
      ).run()
    finally if (driver.isAlive) source.stop()
  }

  /**
   * Returns whether writing this file fixes the initial position: a time counts once it is stored, and the oldest
   * record counts once the stream is read.
   */
  private def begins(file: String): Boolean =
    file == "read-up-to" || (file == "initial-offset" && setup.initialPosition != "trim_horizon")

  /** The position that the first start fixes. */
  private lazy val positionMillis: Long = setup.initialPosition match {
    case "trim_horizon" => 0L
    // A record that arrives in the millisecond of the start may have arrived before it.
    case "latest" => time.nowMillis + 1
    case _ => initialTime
  }

  private lazy val initialTime: Long = time.nowMillis - setup.positionAgeMillis

  private def options(start: Start): Map[String, String] = Map(
    if (setup.streams == 1) "streamName" -> AllStreams.Name else "streamARN" -> streams.arns.mkString(","),
    "region" -> "eu-central-1",
    "awsAccessKey" -> "key",
    "awsSecretKey" -> "secret",
    "failOnDataLoss" -> start.failOnDataLoss.toString,
    "initialPosition" ->
      (if (setup.initialPosition == "at_timestamp") Instant.ofEpochMilli(initialTime).toString
       else setup.initialPosition)
  ) ++ (if (start.efo) Map("consumerMode" -> "efo", "consumerName" -> "reader") else Map.empty) ++ setup.options

  private def stopAtEnd(thread: QueryThread, endMillis: Long): Unit = {
    time.scheduler.schedule((endMillis - time.nowMillis).max(0).millis) {
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

  private var inspected = 0

  /** Checks some messages from executors to the driver. */
  private def inspect(message: Array[Byte]): Unit = {
    inspected += 1
    if (inspected % 8 == 0) checkReport(message)
  }

  private def checkReport(message: Array[Byte]): Unit = ProtocolCodec.decodeToDriver(message) match {
    case report: Report => verdict.holds(report.metrics.getOrElse("bufferedBytes", 0L), setup)
    case _ => ()
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
