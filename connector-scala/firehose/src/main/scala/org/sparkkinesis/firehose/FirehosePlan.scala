package org.sparkkinesis.firehose

import org.apache.spark.sql.types.StructType

import org.sparkkinesis.aws.client.ClientSettings
import org.sparkkinesis.config.value.{OnInvalidRecord, RateLimitingOption}
import org.sparkkinesis.config.{
  ConnectorVersion, EffectCheck, FirehoseOptions, Options, Side, Situation, StreamSelection, WriteOptions
}
import org.sparkkinesis.error.OptionErrors
import org.sparkkinesis.event.log.{EventLog, QueryContext}
import org.sparkkinesis.event.{ConnectorEvent, EventSink, OptionWithoutEffect, WritePlanned, WriteStarted}
import org.sparkkinesis.retry.{RetryPolicies, RetryRules}
import org.sparkkinesis.service.Operation
import org.sparkkinesis.sink.AsyncSinkSettings
import org.sparkkinesis.sink.limit.RateLimitingParameters
import org.sparkkinesis.spark.connection.Connection
import org.sparkkinesis.spark.sink.invalid.{DeadLetterTable, OnInvalidRow}
import org.sparkkinesis.spark.sink.{DataColumn, SinkDataWriter, SinkKind, SinkPlan, TaskShare}

/** The settings with which a task writes. `toString` contains no secret. */
final case class FirehosePlan(
    data: DataColumn,
    stream: String,
    onInvalid: OnInvalidRow,
    connection: ClientSettings,
    settings: FirehoseSinkSettings,
    queryId: String,
    query: QueryContext
) extends SinkPlan {
  override def kind: SinkKind = FirehoseSink
  override def target: String = stream

  override def newWriter(partition: Int, share: TaskShare): SinkDataWriter =
    new FirehoseDataWriter(this, partition, share)
}

/**
 * Settings for writing to a delivery stream. Serializable and without secrets.
 *
 * @param rules
 *   failures that are retried
 */
final case class FirehoseSinkSettings(
    requests: AsyncSinkSettings,
    rateLimiting: RateLimitingOption,
    rateLimitingParameters: RateLimitingParameters,
    rules: RetryRules
)

object FirehoseSinkSettings {
  def of(options: Options): FirehoseSinkSettings = FirehoseSinkSettings(
    AsyncSinkSettings.of(
      options,
      FirehoseOptions.maxBatchBytes,
      RetryPolicies.ofWrite(options)(Operation.PutRecordBatch)
    ),
    options(WriteOptions.rateLimiting),
    RateLimitingParameters.of(options),
    RetryRules.of(options)
  )
}

/**
 * Checks on the driver everything that can be checked before the first record is sent. It does not call the service:
 * the first request shows whether the delivery stream exists, and a caller needs no other permission than for it.
 *
 * @param isNew
 *   returns whether an event has not been emitted yet, because each micro-batch is planned again
 */
final class FirehosePlanner(options: Options, isNew: ConnectorEvent => Boolean) {

  /**
   * Plans a write.
   *
   * @throws org.sparkkinesis.error.KinesisConnectorException
   *   for the first problem
   */
  def plan(schema: StructType, queryId: String): FirehosePlan = {
    val settings = FirehoseSinkSettings.of(options)
    val stream = FirehosePlanner.streamOf(options)
    val query = SinkPlan.context(queryId, Some(stream))
    SinkPlan.checkStrategy(options)
    val plan = FirehosePlan(
      DataColumn.of(schema),
      stream,
      onInvalid(queryId),
      // The client also abandons a request without an answer after this time.
      Connection.clientSettings(options, None),
      settings,
      queryId,
      query
    )
    tell(plan, new EventLog(query))
    plan
  }

  private def tell(plan: FirehosePlan, events: EventSink): Unit = {
    FirehosePlanner.withoutEffect(options).map(OptionWithoutEffect(_)).filter(isNew).foreach(events.emit(_))
    val shown = Seq(
      WriteOptions.rateLimiting,
      WriteOptions.maxInFlightRequests,
      FirehoseOptions.maxBufferedBytes,
      FirehoseOptions.onInvalidRecord
    )
    val started = WriteStarted(ConnectorVersion.text, Some(plan.stream), SinkPlan.shown(options, shown).mkString(", "))
    if (isNew(started)) events.emit(started)
    events.emit(WritePlanned(Some(plan.stream), options(FirehoseOptions.onInvalidRecord).word))
  }

  private def onInvalid(queryId: String): OnInvalidRow = options(FirehoseOptions.onInvalidRecord) match {
    case OnInvalidRecord.Fail => OnInvalidRow.Fail
    case OnInvalidRecord.Drop => OnInvalidRow.Drop
    case OnInvalidRecord.DeadLetter =>
      val table = options.get(WriteOptions.deadLetterTable).getOrElse(throw OptionErrors.missing(
        required = "'deadLetterTable'",
        reason = "'onInvalidRecord' is deadLetter.",
        fix = "Set it to the table for invalid rows."
      ))
      new DeadLetterTable(table, queryId).check()
      OnInvalidRow.Hold(table)
  }
}

private[firehose] object FirehosePlanner {

  /** Checks the options alone, without the rows. Returns one text for each option without an effect. */
  def check(options: Options): Seq[String] = {
    streamOf(options)
    Connection.clientSettings(options, None)
    withoutEffect(options)
  }

  private def withoutEffect(options: Options): Seq[String] =
    EffectCheck.warnings(options, Situation(Side.Write, StreamSelection.One), FirehoseOptions.all)

  private def streamOf(options: Options): String =
    options.get(FirehoseOptions.deliveryStreamName).getOrElse(throw OptionErrors.missing(
      required = "'deliveryStreamName'",
      reason = "No option names the delivery stream.",
      fix = "Set 'deliveryStreamName' to its name."
    ))
}
