package org.sparkkinesis.simulation.read

import java.time.Instant

import org.sparkkinesis.event.{StreamParked, StreamReturned}
import org.sparkkinesis.plan.offset.{OffsetCodec, ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.simulation.common.{QueryThread, SimulatedProcess, Violation}
import org.sparkkinesis.simulation.metadata.LogicalStream
import org.sparkkinesis.simulation.read.schedule.ReadAction.Start
import org.sparkkinesis.simulation.spark._
import org.sparkkinesis.spark.protocol.{ProtocolCodec, Report}
import org.sparkkinesis.spark.session.checkpoint.CheckpointFiles

/** One run of the query: its driver, and executors of which at least one is alive. */
final private[read] class QueryRun(world: ReadWorld, start: Start) {
  import QueryRun._
  import world._

  val driver = new SimulatedProcess("driver", time, () => world.skewMillis)
  val thread = new QueryThread
  private var asked = Option.empty[KinesisSimulatedSource]
  private var inspected = 0

  /** The rule that the metadata log has broken. */
  private var broken = Option.empty[Violation]

  /** The newest offset that this run has stored. */
  private var newest = SourceOffset(Nil)

  /** The streams that the query has parked, or reads again, since that offset. */
  private var parkedSince = Map.empty[String, Boolean]

  /** Whether the checkpoint contains, after an orderly end, how far the shards are read. */
  def hasLooked: Boolean = asked.exists(_.hasAnswered)

  val cluster = new SimulatedCluster(
    time,
    driver,
    random,
    wireFaults,
    environment,
    () => world.executorSkewMillis,
    inspect,
    left => {
      verdict.progressLost()
      if (left.executorsNow.isEmpty && driver.isAlive) addExecutor()
    }
  )
  driver.whenKilled(cluster.killAll())
  (1 to setup.executors).foreach(_ => addExecutor())

  def addExecutor(): Unit = cluster.add(nextExecutor())

  /** Runs the query until its trigger ends it, it is stopped, or it is killed. */
  def run(): Unit = {
    // Spark writes the file before `start()` returns.
    if (checkpoint.read("metadata").isEmpty) checkpoint.write(driver, time.nowMillis)("metadata", "{}")
    verdict.started()
    // "Latest" counts from the start.
    if (setup.initialPosition == "latest") ledger.begin(positionMillis)
    val tasks = new TaskScheduler(time, driver, () => cluster.executorsNow, setup.tasks, random, thread)
    val own = environment(driver)
    val source =
      new KinesisSimulatedSource(
        options,
        files,
        cluster,
        own,
        () => cluster.executorsNow.size * 2,
        () => world.noteDirectRead(),
        logical.map(_.service(own.waiting)),
        new DriverMemory(
          () => time.elapsedMillis,
          _,
          LeftMillis,
          streams.ancestors,
          arn => parkedSince.get(arn).orElse(newest.streams.get(arn).map(_.isParked))
        )
      )
    asked = Some(source)
    val sink = verdict.watching(spoil(ledger), tell(_), committed) {
      if (isBegun) ledger.begin(positionMillis)
      checkpoint.latest("offsets").foreach { case (_, offset) => noteOffset(offset) }
    }
    try
      start.trigger match {
        case QueryTrigger.RealTime(millis) =>
          val live = new LiveTasks(
            time,
            driver,
            () => cluster.executorsNow,
            setup.tasks,
            random,
            thread,
            world.noteMove(_),
            () => verdict.progressLost()
          )
          new RealTimeExecution(
            time,
            driver,
            checkpoint,
            source.inRealTime(),
            millis,
            live,
            sink,
            thread,
            tell(_)
          ).run()
        case trigger =>
          new MicroBatchQuery(time, driver, checkpoint, source, trigger, tasks, sink, thread, tell(_)).run()
      }
    finally {
      if (driver.isAlive) source.stop()
      broken.foreach(throw _)
    }
  }

  private def environment(process: SimulatedProcess): SimulatedEnvironment = new SimulatedEnvironment(
    time,
    process,
    service.client(process.name, () => process.isAlive),
    random,
    setup.heapBytes,
    diskRandom,
    thread,
    loss => {
      tell(s"warning of ${process.name}: ${loss.getMessage}")
      verdict.warned(loss)
    },
    {
      case StreamParked(arn, isDrained) =>
        parkedSince += arn -> true
        members.foreach(_.noteParked(arn, isDrained))
      case StreamReturned(arn) => parkedSince += arn -> false
      case _ => ()
    }
  )

  private def files: CheckpointFiles = new CheckpointFiles {
    override def read(name: String): Option[String] = checkpoint.read(name)
    override def write(name: String, text: String): Unit = {
      tell(s"writes $name: $text")
      val before = checkpoint.read(name)
      try checkpoint.write(driver, time.nowMillis)(name, text)
      finally {
        if (name == "read-up-to" && checkpoint.read(name).nonEmpty) ledger.begin(positionMillis)
        if (name == "initial-offset") checkpoint.read(name).foreach(beginAt)
        if (name == "metadata-log") noteEntries()
        // A driver that is killed before it has written leaves a position that may be older than the last batch.
        if (name == "read-up-to" && checkpoint.read(name) != before)
          world.readUpTo.foreach { case (_, position) => noteOffset(position) }
      }
      if (name == "read-up-to") verdict.noted()
      if (name == "initial-offset") ledger.noted()
    }
    override def delete(name: String): Unit = checkpoint.delete(driver)(name)
    override def names(prefix: String): Set[String] = checkpoint.names(prefix)
    override def startedMillis: Option[Long] = checkpoint.writtenMillis("metadata")
  }

  /** Whether the newest offset shows that the streams were read. The oldest record does not count before. */
  private def isBegun: Boolean = checkpoint.latest("offsets").exists { case (_, offset) =>
    !checkpoint.read("initial-offset").contains(offset) || OffsetCodec.decode(offset).read.exists(hasTimes)
  }

  /** Whether a stream has a position other than the oldest record, which also stands for a time that is too old. */
  private def hasTimes(stream: StreamOffset): Boolean = stream.shards.values.exists(_ != ShardPosition.Horizon)

  /** Checks the metadata log. The connector takes an exception on its thread for a failure of the metadata service. */
  private def noteEntries(): Unit =
    try members.foreach(_.noteEntries())
    catch {
      case violation: Violation =>
        broken = Some(violation)
        throw violation
    }

  /** Records the streams that are in an offset: from then on, the query knows how far they are read. */
  private def noteOffset(offset: String): Unit = {
    newest = OffsetCodec.decode(offset)
    parkedSince = Map.empty
    members.foreach(_.noteOffset(newest))
  }

  private def committed(batch: Long): Unit =
    members.foreach(_.committed(batch, ledger.rowsOf(batch).flatMap(ledger.streamOf).toSet))

  /** Records the stored initial position: a time counts from now on, and the oldest record once a stream is read. */
  private def beginAt(initial: String): Unit = {
    val (timed, oldest) = OffsetCodec.decode(initial).read.toVector.partition(hasTimes)
    if (timed.nonEmpty) ledger.begin(positionMillis, unread = oldest.map(_.arn).toSet)
  }

  private def selection: Map[String, String] =
    if (setup.isLogical) Map(
      "streamId" -> LogicalStream.Id,
      "metadataService" -> "class:simulation",
      "metadataAllowedAccounts" -> AllStreams.Accounts.mkString(",")
    )
    else if (setup.streams == 1) Map("streamName" -> AllStreams.Name)
    else Map("streamARN" -> streams.arns.mkString(","))

  private def options: Map[String, String] = selection ++ Map(
    "region" -> "eu-central-1",
    "awsAccessKey" -> "key",
    "awsSecretKey" -> "secret",
    "failOnDataLoss" -> start.failOnDataLoss.toString,
    "initialPosition" ->
      (if (setup.initialPosition == "at_timestamp") Instant.ofEpochMilli(initialTime).toString
       else setup.initialPosition)
  ) ++ (if (start.efo) Map("consumerMode" -> "efo", "consumerName" -> "reader") else Map.empty) ++ setup.options

  /** Checks some messages from executors to the driver. */
  private def inspect(message: Array[Byte]): Unit = {
    inspected += 1
    if (inspected % OneOfReports == 0) ProtocolCodec.decodeToDriver(message) match {
      case report: Report => verdict.holds(report.metrics.getOrElse("bufferedBytes", 0L), setup, streams.shards)
      case _ => ()
    }
  }
}

private object QueryRun {

  /** The share of the messages that are checked, because decoding them takes time. */
  val OneOfReports = 8

  /** Longer than the slowest query needs to notice that a shard is finished, in milliseconds. */
  val LeftMillis: Long = 6 * 3600000L
}
