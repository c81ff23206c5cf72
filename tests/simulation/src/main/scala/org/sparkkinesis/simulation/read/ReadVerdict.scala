package org.sparkkinesis.simulation.read

import java.time.Instant

import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.kit.EndConditions.{Losses, Passing}
import org.sparkkinesis.model.KinesisQuotas
import org.sparkkinesis.service.Operation
import org.sparkkinesis.simulation.common.{SimulatedTime, Violation}
import org.sparkkinesis.simulation.read.schedule._
import org.sparkkinesis.simulation.spark.{BatchSink, ReadRow}

/**
 * Decides whether the actions of a query and its end are correct.
 *
 * @param hasExpiredSince
 *   whether a closed shard has expired since a time
 * @param initialMillis
 *   the initial position, if it is a time
 * @param isUnseen
 *   whether the last batch was planned although some shard could not be fetched, or left an old position in a closed
 *   shard or in one with more records; its arguments are the time at which the run started that planned the batch, the
 *   last time at which the query has stored how far it has read, and whether that run goes on
 * @param ancestors
 *   returns the shards from which a shard of a stream descends
 * @param siblings
 *   returns the expired shards that have a parent of a shard of a stream
 * @param inactiveMillis
 *   returns the longest time in which a stream was not to be read
 * @param isTroubled
 *   whether the service or a connection has failed recently
 */
final class ReadVerdict(
    time: SimulatedTime,
    ledger: ReadLedger,
    retentionMillis: Long,
    hasExpiredSince: Long => Boolean,
    initialMillis: () => Option[Long],
    isUnseen: (Long, Long, Boolean) => Boolean,
    ancestors: (String, String) => Set[String],
    siblings: (String, String) => Set[String],
    inactiveMillis: String => Long,
    isTroubled: () => Boolean
) {
  import ReadVerdict._

  /** The last time at which a query ran or had caught up. */
  private var lastAliveMillis = Long.MinValue

  /** The longest time between two such moments. */
  private var longestGapMillis = 0L
  private var starts = 0
  private var startMillis = 0L

  /** When the run started that planned the last batch. */
  private var plannedBySince = 0L

  /**
   * Whether the checkpoint did not contain, when the query was last started, how far every shard was read. The query
   * reports a shard with its first answer, or when a task reads it. Batches of other shards may be planned before that,
   * so progress does not make such a report false.
   */
  private var beganUncertain = false

  /**
   * Whether an executor or a task was lost, with what it knew of shards that no batch had read, or the machines were
   * suspended, possibly before the first fetch.
   */
  private var hasLostProgress = false

  /** Records that an executor was lost, or a task of a real-time batch, or that the machines were suspended. */
  def progressLost(): Unit = hasLostProgress = true

  /** Records a start of the query. */
  def started(): Unit = {
    starts += 1
    beganUncertain = starts > 1 && (leftOldPosition(isRunning = false) || isUncertain(time.nowMillis))
    startMillis = time.nowMillis
    ledger.started()
    if (starts == 1) persisted()
  }

  /** Records that the query has stored its progress. A driver that is killed takes any other knowledge with it. */
  private def persisted(): Unit = {
    val now = time.nowMillis
    if (lastAliveMillis != Long.MinValue) longestGapMillis = math.max(longestGapMillis, now - lastAliveMillis)
    lastAliveMillis = now
  }

  /** The knowledge of the query about all shards is in the checkpoint, because it ended in order or stored it. */
  def noted(): Unit = persisted()

  def warned(loss: KinesisConnectorException): Unit = note(loss, isError = false)

  /** Checks the error with which the query ended. */
  def failed(failure: Throwable, failOnDataLoss: Boolean): Unit = conditionOf(failure) match {
    case Some(loss) if isLoss(loss) =>
      if (!failOnDataLoss)
        throw new Violation("loss", s"the query ended although it need not: ${loss.getMessage}", failure)
      note(loss, isError = true)
    case Some(error) if error.condition == "KINESIS_REAL_TIME_STREAM_RECREATED" =>
      val report = LossReport(time.nowMillis, error.condition, error.parameters("stream"), "", isError = true)
      if (!ledger.hasDeletion(report))
        throw new Violation("needless", s"no stream was recreated, but the query ended: $failure", failure)
    case Some(error) if Passing(error.condition) || error.condition == "KINESIS_METADATA_UNAVAILABLE" =>
      if (!isTroubled()) throw new Violation("needless", s"nothing has failed, but the query ended: $failure", failure)
    case _ => throw new Violation("failure", s"the query ended with $failure", failure)
  }

  def isLoss(failure: Throwable): Boolean = conditionOf(failure).exists(error => Losses(error.condition))

  /**
   * Checks after the end of `Trigger.AvailableNow` that the query has read every record that arrived before its
   * start.
   *
   * @param isRead
   *   whether the query was sure to read a stream
   */
  def drained(untilMillis: Long, isRead: String => Boolean): Unit =
    ledger.missing.find(record =>
      record.arrivalMillis <= untilMillis && ledger.goneMillis(record) > time.nowMillis && isRead(record.arn)
    )
      .foreach(record =>
        throw new Violation("availableNow", s"$record was there when AvailableNow started, and is not read")
      )

  /** Checks at the end that no record is missing without a report. */
  def atEnd(): Unit = ledger.missing.nextOption().foreach { record =>
    val all = ledger.missing.size
    throw new Violation("lost", s"$all records are not delivered and not reported as lost, for example $record")
  }

  /**
   * Checks the bytes in one executor's buffer.
   *
   * @param shards
   *   number of shards that may be read
   */
  def holds(bytes: Long, setup: ReadSetup, shards: Int): Unit = {
    val capacity = setup.options.get("fetchBufferSize").map(_.toLong).getOrElse(Long.MaxValue / 4)
    // The limit is soft: every shard that was idle may exceed it by one answer. The size of the records in the first
    // answer of a shard is not known before.
    val answer = setup.model.recordsPerAnswer.toLong * setup.recordBytes
    val most = 2 * capacity + shards * math.min(answer, KinesisQuotas.Request.GetRecordsBytes.toLong)
    if (bytes > most) throw new Violation("memory", s"$bytes bytes are buffered, of $capacity that may be")
  }

  /**
   * Checks at the end that the query kept to the quotas of the streams, which nobody else read.
   *
   * @param runs
   *   number of runs of the query and of its executors, and of changes of its streams; a new one does not know what an
   *   old one has called
   * @param directReads
   *   number of ranges that tasks have read from the service; such a read does not know the size of the records, so its
   *   first answer may take the quota of five seconds, nor what the consumers and other tasks have called
   * @param moves
   *   number of shards of real-time tasks that ran in another executor than the batch before; the subscription of the
   *   old one ends, and the old one may subscribe again before it hears that it must not
   * @param unheard
   *   number of such shards while messages were lost: both executors read the shard until the old one hears that it
   *   must not, and neither knows what the other one has called
   */
  def called(
      made: Map[String, Int],
      refused: Map[String, Int],
      runs: Int,
      directReads: Int,
      moves: Int = 0,
      unheard: Int = 0
  ): Unit =
    refused.find { case (name, count) =>
      val readers = runs + (if (ReadByTasks(name)) directReads + unheard else 0)
      val byMoves = if (name == Operation.SubscribeToShard.name) moves else 0
      count > RefusedPerReader * readers + made(name) / RefusedOneOf + byMoves
    }.foreach { case (name, count) =>
      throw new Violation(
        "quota",
        s"$count of ${made(name)} calls of $name were refused in $runs runs with $directReads direct reads " +
          s"and $unheard moves while messages were lost"
      )
    }

  /**
   * Returns the ledger, which also records every committed batch as progress.
   *
   * @param onCommitted
   *   receives each committed batch after the ledger
   */
  def watching(sink: BatchSink, trace: (=> String) => Unit, onCommitted: Long => Unit)(
      onLogged: => Unit
  ): BatchSink = new BatchSink {
    override def onBatchLogged(): Unit = {
      plannedBySince = startMillis
      persisted()
      onLogged
    }
    override def onBatchRead(batch: Long, rows: Vector[ReadRow]): Unit = {
      trace(s"batch $batch has ${rows.map(row => s"${row.id}@${row.shard.takeRight(2)}").mkString(" ")}")
      sink.onBatchRead(batch, rows)
    }
    override def sameRows(batch: Long, before: Vector[ReadRow], again: Vector[ReadRow]): Unit =
      sink.sameRows(batch, before, again)
    override def onBatchHanded(batch: Long, rows: Vector[ReadRow]): Unit = {
      trace(s"real-time batch $batch has ${rows.map(row => s"${row.id}@${row.shard.takeRight(2)}").mkString(" ")}")
      sink.onBatchHanded(batch, rows)
    }
    override def onBatchDropped(batch: Long): Unit = {
      trace(s"batch $batch is planned anew")
      sink.onBatchDropped(batch)
    }
    override def onBatchCommitted(batch: Long): Unit = {
      trace(s"batch $batch is committed")
      sink.onBatchCommitted(batch)
      onCommitted(batch)
    }
  }

  /**
   * Returns whether the query was stopped or behind for longer than the retention period. It cannot know what it has
   * missed, nor what a closed shard contained that expired meanwhile.
   */
  private def isUncertain(millis: Long): Boolean =
    longestGapMillis + (millis - lastAliveMillis).max(0) > retentionMillis - UncertainMillis ||
      hasExpiredSince(lastAliveMillis)

  /** Returns whether the checkpoint has an old position of some shard because the query knew no newer one. */
  private def leftOldPosition(isRunning: Boolean): Boolean =
    isUnseen(plannedBySince, lastAliveMillis, isRunning)

  /** Returns the shards that a report names as left, and those from which they descend. */
  private def lineage(stream: String, reason: String): Set[String] = {
    val left = ShardName.findAllIn(reason).toSet
    left ++ left.flatMap(ancestors(stream, _))
  }

  private def note(loss: KinesisConnectorException, isError: Boolean): Unit = {
    val millis = time.nowMillis
    // A run that ended before it had looked at a shard leaves the initial position, which may be older than that by
    // now, and so does an executor or a task that was lost before the first real-time batch ended.
    val isBeginning = (starts > 1 || hasLostProgress) && initialMillis().exists(initial =>
      millis - initial > retentionMillis - UncertainMillis &&
        loss.getMessage.contains(s"${Instant.ofEpochMilli(initial)}")
    )
    def parameter(name: String) = loss.parameters.getOrElse(name, "")
    // The report that a stream was deleted names one of its shards.
    val isOfStream = parameter("reason").contains("the stream was deleted")
    val (stream, shard) = (parameter("stream"), if (isOfStream) "" else parameter("shard"))
    val report = LossReport(
      millis,
      loss.condition,
      stream,
      shard,
      isError,
      Option.when(parameter("reason").contains("descendants"))(lineage(stream, parameter("reason"))),
      siblings(stream, shard),
      ReadUpTo.findFirstMatchIn(parameter("reason")).map(found =>
        Unread(Instant.parse(found.group(1)).toEpochMilli, ancestors(stream, shard))
      ),
      isOfFilter = parameter("reason").contains("filtered")
    )
    val isReal = ledger.hasDeletion(report) || ledger.hasLoss(report)
    val wasLeft = inactiveMillis(stream) > retentionMillis - UncertainMillis
    val isExplained = isReal || wasLeft || ledger.isOfLeftUnread(report) || isBeginning || beganUncertain
    if (!isExplained && !isUncertain(millis) && !leftOldPosition(isRunning = true))
      throw new Violation("alarm", s"nothing is lost, but the query says so: ${loss.getMessage}", loss)
    ledger.report(report)
  }

  private def conditionOf(failure: Throwable): Option[KinesisConnectorException] =
    Iterator.iterate(failure)(_.getCause).takeWhile(_ != null).collectFirst { case found: KinesisConnectorException =>
      found
    }
}

private object ReadVerdict {

  private val ShardName = "shardId-\\d+".r

  /** The time in a report up to which a shard was read. */
  private val ReadUpTo = "it was read up to (\\S+Z)".r

  /** The operations with which tasks read from the service. */
  val ReadByTasks: Set[String] = Set(Operation.GetRecords, Operation.GetShardIterator).map(_.name)

  /** The number of refused calls that are allowed for each run and each direct read, and one in this many calls. */
  val RefusedPerReader = 10
  val RefusedOneOf = 20

  /** The tolerance, because stored positions are refreshed rarely. */
  val UncertainMillis: Long = 3 * 3600000L
}
