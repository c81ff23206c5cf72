package org.sparkkinesis.simulation.spark

import scala.concurrent.duration._

import org.sparkkinesis.simulation.common.{ProcessKilled, QueryThread, SimulatedProcess, SimulatedTime}

/** The trigger of a query. */
sealed trait QueryTrigger

object QueryTrigger {
  final case class ProcessingTime(millis: Long) extends QueryTrigger
  case object AvailableNow extends QueryTrigger

  /** Spark's real-time mode with batches of this length. */
  final case class RealTime(millis: Long) extends QueryTrigger
  case object Once extends QueryTrigger
}

/** The methods of a micro-batch source that Spark calls. Offsets are the texts of the offset log. */
trait MicroBatchSource {
  def initialOffset(): String
  def prepareForTriggerAvailableNow(): Unit

  /** Returns `None` when there is nothing new. */
  def latestOffset(start: String, allAvailable: Boolean): Option[String]
  def partitions(start: String, end: String): Seq[BatchPartition]
  def stop(): Unit
}

/** The ranges that one task reads. */
trait BatchPartition {

  /** The executors that should run the task. */
  def preferred: Seq[String]

  /** Reads the whole partition in this executor. */
  def read(executor: SimulatedExecutor): Vector[ReadRow]
}

/** A row that the query's sink receives. */
final case class ReadRow(shard: String, sequenceNumber: String, subSequenceNumber: Long, key: String, id: Long)

/** Receives the rows of batches and knows which batches are committed. */
trait BatchSink {

  /** Called when a batch is in the offset log. */
  def onBatchLogged(): Unit

  /** Called when every task of a batch has read its rows, for the first time or again. */
  def onBatchRead(batch: Long, rows: Vector[ReadRow]): Unit

  /** Fails unless the rows are a valid result of reading the same ranges again. */
  def sameRows(batch: Long, before: Vector[ReadRow], again: Vector[ReadRow]): Unit

  /** Called when a real-time batch is in the offset log, with the rows of the attempts that succeeded. */
  def onBatchHanded(batch: Long, rows: Vector[ReadRow]): Unit

  /** Called when a batch is removed from the offset log, because real-time mode plans it anew. */
  def onBatchDropped(batch: Long): Unit

  /** Called when the batch is in the commit log. */
  def onBatchCommitted(batch: Long): Unit
}

/**
 * One run of a query, like Spark's MicroBatchExecution: it writes the offset log before it reads a batch and the
 * commit log after it. A batch that is only in the offset log is read again after a restart. For the outermost
 * thread.
 */
final class MicroBatchQuery(
    time: SimulatedTime,
    driver: SimulatedProcess,
    checkpoint: CheckpointFolder,
    source: MicroBatchSource,
    trigger: QueryTrigger,
    tasks: TaskScheduler,
    sink: BatchSink,
    thread: QueryThread,
    trace: (=> String) => Unit
) {
  private var batch = 0L
  private var committed = Option.empty[String]
  private var available = Option.empty[String]
  private var isConstructed = false

  /** Returns when the trigger ends the query or when it is stopped. */
  def run(): Unit = {
    recover()
    if (trigger == QueryTrigger.AvailableNow) source.prepareForTriggerAvailableNow()
    trigger match {
      case QueryTrigger.ProcessingTime(millis) => while (!thread.isStopped) everyTrigger(millis)
      case QueryTrigger.AvailableNow => while (runBatch()) check()
      case QueryTrigger.Once => runBatch(); ()
      case _: QueryTrigger.RealTime => throw new IllegalArgumentException("not a trigger of micro-batches")
    }
  }

  private def everyTrigger(millis: Long): Unit = {
    val next = time.nowMillis + millis
    runBatch()
    if (time.nowMillis < next) pause(next - time.nowMillis)
  }

  private def pause(millis: Long): Unit = {
    time.waitFor(millis.millis)(thread.isStopped || !driver.isAlive)
    driver.check()
  }

  private def recover(): Unit = checkpoint.latest("offsets").foreach { case (latest, end) =>
    batch = latest
    isConstructed = true
    available = Some(end)
    committed = if (latest == 0) None else checkpoint.read(s"offsets/${latest - 1}")
    if (checkpoint.latest("commits").exists(_._1 == latest)) {
      batch = latest + 1
      isConstructed = false
      committed = available
    }
  }

  /** Runs the next batch. Returns whether there was one. */
  private def runBatch(): Boolean = {
    if (!isConstructed) isConstructed = construct()
    val runs = isConstructed
    if (runs) {
      // Spark asks for the initial offset with every batch until one is committed.
      val start = committed.getOrElse(source.initialOffset())
      val end = available.getOrElse(throw new IllegalStateException("a constructed batch has an end"))
      if (!committed.contains(end)) read(start, end)
      // A driver that is killed after the file is written has committed the batch.
      try write(s"commits/$batch", "{}")
      finally if (checkpoint.read(s"commits/$batch").nonEmpty) sink.onBatchCommitted(batch)
      committed = available
      batch += 1
      isConstructed = false
    }
    runs
  }

  private def construct(): Boolean = {
    check()
    val start = available.getOrElse(source.initialOffset())
    val next = source.latestOffset(start, trigger == QueryTrigger.Once)
    check()
    next.filterNot(available.contains).foreach { end =>
      trace(s"offset of batch $batch: $end")
      available = Some(end)
      try write(s"offsets/$batch", end)
      finally if (checkpoint.read(s"offsets/$batch").nonEmpty) sink.onBatchLogged()
    }
    available.isDefined && available != committed
  }

  private def read(start: String, end: String): Unit = {
    val partitions = source.partitions(start, end)
    check()
    sink.onBatchRead(batch, tasks.runAll(partitions)(sink.sameRows(batch, _, _)))
  }

  private def write(name: String, text: String): Unit = checkpoint.write(driver, time.nowMillis)(name, text)

  /** Throws if the query is being stopped, as an interrupt does. */
  private def check(): Unit = {
    driver.check()
    thread.check()
  }
}

/** Runs the tasks of a batch in executors, with failing attempts, speculative copies and second actions. */
final class TaskScheduler(
    time: SimulatedTime,
    driver: SimulatedProcess,
    executors: () => Seq[SimulatedExecutor],
    settings: TaskSettings,
    random: scala.util.Random,
    thread: QueryThread
) {

  /** Returns the rows of all partitions, in order. */
  def runAll(partitions: Seq[BatchPartition])(compare: (Vector[ReadRow], Vector[ReadRow]) => Unit): Vector[ReadRow] = {
    val rows = partitions.iterator.map(run(_, 1)(compare)).toVector
    if (happens(settings.secondActionPercent))
      partitions.zip(rows).foreach { case (partition, first) => compare(first, run(partition, 1)(compare)) }
    rows.flatten
  }

  private def run(partition: BatchPartition, attempt: Int)(
      compare: (Vector[ReadRow], Vector[ReadRow]) => Unit
  ): Vector[ReadRow] = {
    driver.step()
    val executor = choose(partition)
    val done =
      try {
        val rows = partition.read(executor)
        executor.process.check()
        if (happens(settings.failPercent) && attempt < settings.attempts) None else Some(rows)
      } catch {
        case _: ProcessKilled if driver.isAlive && !executor.process.isAlive => None
      }
    driver.check()
    thread.check()
    done.fold(run(partition, attempt + 1)(compare)) { rows =>
      if (happens(settings.speculationPercent))
        try compare(rows, partition.read(choose(partition)))
        catch { case _: ProcessKilled if driver.isAlive => () }
      rows
    }
  }

  private def choose(partition: BatchPartition): SimulatedExecutor = {
    time.waitFor(TaskScheduler.LongestWait)(executors().nonEmpty || !driver.isAlive || thread.isStopped)
    driver.check()
    val present = executors()
    if (present.isEmpty) throw new InterruptedException("no executor is left")
    val local = present.filter(executor => partition.preferred.contains(executor.name))
    if (local.nonEmpty && !happens(settings.elsewherePercent)) local.head
    else present(random.nextInt(present.size))
  }

  private def happens(percent: Int): Boolean = random.nextInt(100) < percent
}

private object TaskScheduler {
  val LongestWait: FiniteDuration = 30.minutes
}

/**
 * The percentages of tasks to which something happens.
 *
 * @param elsewherePercent
 *   percentage of tasks that do not run in their preferred executor
 */
final case class TaskSettings(
    attempts: Int = 4,
    failPercent: Int = 0,
    speculationPercent: Int = 0,
    elsewherePercent: Int = 0,
    secondActionPercent: Int = 0
)
