package org.sparkkinesis.sink.kinesis

import java.util.concurrent.ExecutionException

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Futures, Scheduler}
import org.sparkkinesis.event.{EventSink, ShardLimitsUnavailable}
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.retry.{Retrier, RetryPolicy, RetryRules}
import org.sparkkinesis.service.{KinesisService, ServiceErrorKind, ServiceException}
import org.sparkkinesis.shard.ShardLister
import org.sparkkinesis.sink.kinesis.lane.ShardLanes
import org.sparkkinesis.sink.{AsyncSinkWriter, SinkMetrics}

/** Writes records to one stream, for one task. As [[AsyncSinkWriter]]: one thread, `flush` before anything counts as stored. */
final class KinesisStreamSink private (
    writer: AsyncSinkWriter[SinkRecord, SinkRecord],
    counts: PutCounts,
    release: () => Unit
) extends AutoCloseable {
  private var isOpen = true

  def write(record: SinkRecord): Unit = writer.write(record)
  def flush(): Unit = writer.flush()
  def metrics: KinesisSinkMetrics = KinesisSinkMetrics(writer.metrics, counts.records, counts.payloadUnits)

  override def close(): Unit = if (isOpen) {
    isOpen = false
    writer.close()
    release()
  }
}

/**
 * @param recordsStored
 *   Kinesis records; an aggregate is one
 * @param payloadUnits
 *   as provisioned streams are billed, see [[PutCounts]]
 */
final case class KinesisSinkMetrics(
    requests: SinkMetrics = SinkMetrics(),
    recordsStored: Long = 0,
    payloadUnits: Long = 0
) {

  /** Of a sink that was closed: what it did stays, its present state is over. */
  def ended: KinesisSinkMetrics = copy(requests =
    requests.copy(
      inFlightRequests = 0,
      inFlightEntries = 0,
      bufferedEntries = 0,
      unacknowledgedBytes = 0,
      currentLimit = 0
    )
  )

  def +(other: KinesisSinkMetrics): KinesisSinkMetrics = KinesisSinkMetrics(
    requests + other.requests,
    recordsStored + other.recordsStored,
    payloadUnits + other.payloadUnits
  )
}

object KinesisStreamSink {
  private val ListingRetries = RetryPolicy(Some(8), 200.millis, 3.seconds, 1.5)

  /**
   * Lists the shards when that is needed and has not been done in this JVM, then opens; blocks for that.
   *
   * @param where
   *   endpoint and region, to tell streams of one name apart
   * @throws ServiceException
   *   when the shards cannot be listed and aggregation needs them
   */
  def open(
      service: KinesisService,
      stream: StreamRef,
      where: String,
      settings: KinesisSinkSettings,
      scheduler: Scheduler,
      events: EventSink = EventSink.Discard
  ): KinesisStreamSink = {
    val held = StreamLimits.acquire(StreamLimits.Key(stream.toString, where, settings))
    try {
      val limits = held.value
      val lister =
        new ShardLister(service, new Retrier(scheduler, RetryRules.Default), ListingRetries, scheduler)
      if (limits.lanes.map.isEmpty) listShards(lister, stream, limits.lanes, settings, events)
      val packer = Option.when(settings.aggregated)(AggregatePacker(settings.ordered, settings.requests.maxBatchSize))
      val destination =
        new KinesisDestination(
          service,
          stream,
          limits.lanes,
          lister,
          settings.shardLimits,
          settings.ordered,
          packer,
          events
        )
      val writer = new AsyncSinkWriter[SinkRecord, SinkRecord](
        record => record,
        destination,
        limits.strategy.open(),
        settings.requestsFor(limits.lanes.openShards),
        scheduler
      )
      new KinesisStreamSink(writer, destination.counts, () => held.close())
    } catch {
      case failure: Throwable =>
        held.close()
        throw failure
    }
  }

  private def listShards(
      lister: ShardLister,
      stream: StreamRef,
      lanes: ShardLanes,
      settings: KinesisSinkSettings,
      events: EventSink
  ): Unit =
    try {
      lanes.refresh(lister, stream, events).get()
      ()
    } catch {
      case failed: ExecutionException =>
        Futures.unwrap(failed) match {
          case denied: ServiceException if denied.kind == ServiceErrorKind.AccessDenied && !settings.aggregated =>
            events.emit(ShardLimitsUnavailable(stream.toString, denied.getMessage))
          case other => throw other
        }
    }
}
