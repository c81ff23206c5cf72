package org.sparkkinesis.simulation.read

import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.simulation.common.{SimulatedTime, Violation}
import org.sparkkinesis.simulation.spark.{BatchSink, ReadRow}

/** Says whether what a query did, and how it ended, is as it must be. */
final class ReadVerdict(time: SimulatedTime, ledger: ReadLedger, retentionMillis: Long) {
  import ReadVerdict._

  /** When a query was last known to run, or to have caught up. */
  private var lastAliveMillis = Long.MinValue

  /** The longest time between two such moments. */
  private var longestGapMillis = 0L

  /** A query has started, or has made progress. */
  def running(): Unit = {
    val now = time.nowMillis
    if (lastAliveMillis != Long.MinValue) longestGapMillis = math.max(longestGapMillis, now - lastAliveMillis)
    lastAliveMillis = now
  }

  def warned(loss: KinesisConnectorException): Unit = note(loss, isError = false)

  /** The query ended with this error. */
  def failed(failure: Throwable, failOnDataLoss: Boolean): Unit = conditionOf(failure) match {
    case Some(loss) if isLoss(loss) =>
      if (!failOnDataLoss)
        throw new Violation("loss", s"the query ended although it need not: ${loss.getMessage}", failure)
      note(loss, isError = true)
    case Some(error) if Passing(error.condition) => ()
    case _ => throw new Violation("failure", s"the query ended with $failure", failure)
  }

  def isLoss(failure: Throwable): Boolean = conditionOf(failure).exists(error => Losses(error.condition))

  /** `Trigger.AvailableNow` has ended by itself, and must have read everything that arrived before. */
  def drained(untilMillis: Long): Unit =
    ledger.missing.find(record => record.arrivalMillis <= untilMillis && ledger.goneMillis(record) > time.nowMillis)
      .foreach(record =>
        throw new Violation("availableNow", s"$record was there when AvailableNow started, and is not read")
      )

  /** Nothing may be left out without a report. */
  def atEnd(): Unit = ledger.missing.nextOption().foreach { record =>
    val all = ledger.missing.size
    throw new Violation("lost", s"$all records are not delivered and not reported as lost, for example $record")
  }

  /** What one executor's buffer holds. */
  def holds(bytes: Long, setup: ReadSetup): Unit = {
    val capacity = setup.options.get("fetchBufferSize").map(_.toLong).getOrElse(Long.MaxValue / 4)
    // The bound is soft: shards that were idle may each pass it by one batch.
    if (bytes > 2 * capacity) throw new Violation("memory", s"$bytes bytes are buffered, of $capacity that may be")
  }

  /** The ledger, with every committed batch noted as a sign of life. */
  def watching(sink: BatchSink, trace: (=> String) => Unit): BatchSink = new BatchSink {
    override def onBatchRead(batch: Long, rows: Vector[ReadRow]): Unit = {
      trace(s"batch $batch has ${rows.map(row => s"${row.id}@${row.shard.takeRight(2)}").mkString(" ")}")
      sink.onBatchRead(batch, rows)
    }
    override def sameRows(batch: Long, before: Vector[ReadRow], again: Vector[ReadRow]): Unit =
      sink.sameRows(batch, before, again)
    override def onBatchCommitted(batch: Long): Unit = {
      running()
      trace(s"batch $batch is committed")
      sink.onBatchCommitted(batch)
    }
  }

  private def note(loss: KinesisConnectorException, isError: Boolean): Unit = {
    val millis = time.nowMillis
    // A query that was down, or behind, for longer than the retention cannot know what it has missed.
    val isUncertain = longestGapMillis + (millis - lastAliveMillis).max(0) > retentionMillis - UncertainMillis
    val isReal = ledger.hasDeletion || ledger.hasLoss
    if (!isReal && !isUncertain)
      throw new Violation("alarm", s"nothing is lost, but the query says so: ${loss.getMessage}", loss)
    ledger.report(LossReport(millis, loss.condition, loss.parameters.getOrElse("shard", ""), isError))
  }

  private def conditionOf(failure: Throwable): Option[KinesisConnectorException] =
    Iterator.iterate(failure)(_.getCause).takeWhile(_ != null).collectFirst { case found: KinesisConnectorException =>
      found
    }
}

private object ReadVerdict {
  val Losses = Set("KINESIS_DATA_LOSS", "KINESIS_STREAM_RECREATED")

  /** What a query may end with while something is wrong; it is started again. */
  val Passing = Set(
    "KINESIS_LISTING_INCOMPLETE",
    "KINESIS_ENDPOINT_UNREACHABLE",
    "KINESIS_STREAM_NOT_FOUND",
    "KINESIS_STREAM_UNUSABLE",
    "KINESIS_CONSUMER_NOT_FOUND",
    "KINESIS_CONSUMER_NOT_READY",
    "KINESIS_SERVICE_FAILED"
  )

  /** Positions are refreshed seldom. */
  val UncertainMillis: Long = 3 * 3600000L
}
