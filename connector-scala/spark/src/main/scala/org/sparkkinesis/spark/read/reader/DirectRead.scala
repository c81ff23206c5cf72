package org.sparkkinesis.spark.read.reader

import org.sparkkinesis.chunk.{Chunk, ChunkBuilder}
import org.sparkkinesis.consume.RangeReader
import org.sparkkinesis.event.{ConsumerMetrics, RowsFiltered}
import org.sparkkinesis.plan.ShardRange
import org.sparkkinesis.service.ServiceException
import org.sparkkinesis.spark.connection.{Environment, ServiceFailure}
import org.sparkkinesis.spark.executor.PublisherFactories
import org.sparkkinesis.spark.settings.ReadSettings

/**
 * Reads one range from the service on the task's thread. If the executor cannot reach the service, the task is killed
 * and runs again, possibly in another executor; see decision 0022.
 */
final private[reader] class DirectRead(
    range: ShardRange,
    settings: ReadSettings,
    metrics: ConsumerMetrics,
    environment: Environment
) extends Iterator[Chunk]
    with AutoCloseable {
  private val events = environment.events(settings.query)
  private val own = DirectRead.limited(settings, range.maxRecords)
  private val publishers =
    PublisherFactories.polling(() => own, environment.sharedScheduler, metrics, environment, events)
  private val reader = new RangeReader(
    publishers,
    range.shard,
    range.after,
    range.end,
    new ChunkBuilder(
      settings.decode,
      range.hashKeyRange,
      metrics,
      rows => events.emit(RowsFiltered(range.shard, rows))
    ),
    environment.losses(settings.failOnDataLoss, events),
    waiting = environment.waiting,
    skipUpTo = range.skipUpTo,
    firstArrivalMillis = range.firstArrivalMillis,
    before = range.before
  )
  private val watch = environment.taskKiller().map(kill =>
    new SilenceWatch(
      () => publishers.unreachable(range.shard.stream),
      () =>
        kill(s"the executor has received no answer of the service for ${range.shard}, and another one may reach it"),
      environment.sharedScheduler
    )
  )

  override def hasNext: Boolean =
    try watch.fold(reader.hasNext)(_.waiting(reader.hasNext))
    catch {
      case error: ServiceException =>
        throw ServiceFailure.explain(error, range.stream, settings.client(range.shard.stream))
    }

  override def next(): Chunk = reader.next()

  override def close(): Unit = {
    watch.foreach(_.close())
    reader.close()
    publishers.close()
  }
}

private[reader] object DirectRead {

  /** Returns settings with which no call asks for more records than a range has: a large record uses up a quota. */
  def limited(settings: ReadSettings, maxRecords: Option[Long]): ReadSettings = maxRecords.fold(settings) { most =>
    val limit = math.max(1, math.min(settings.polling.maxRecordsPerFetch.toLong, most)).toInt
    settings.copy(polling = settings.polling.copy(maxRecordsPerFetch = limit))
  }
}
