package org.sparkkinesis.metric

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.Clock
import org.sparkkinesis.event.ReadSummary

/**
 * Makes the summaries of one source for the log: the first one when its first batch is planned, then one every five
 * minutes, also while a batch does not end. Thread-safe.
 */
final class ReadSummaries(clock: Clock) {
  import ReadSummaries._

  private var reportedNanos = clock.nanoTime
  private var reported = Option.empty[SourceFigures]

  /** Returns the summary of the time since the last one if it is due. */
  def next(figures: => SourceFigures): Option[ReadSummary] = synchronized {
    val elapsed = clock.nanoTime - reportedNanos
    if (reported.nonEmpty && elapsed < Period.toNanos) None
    else {
      val now = figures
      val isDue = reported.nonEmpty || now.batch.nonEmpty || elapsed >= Period.toNanos
      Option.when(isDue) {
        val summary = of(reported, now, elapsed / 1000000)
        reported = Some(now)
        reportedNanos = clock.nanoTime
        summary
      }
    }
  }
}

object ReadSummaries {
  val Period: FiniteDuration = 5.minutes

  /** Returns the summary of the time between two moments. */
  def of(before: Option[SourceFigures], now: SourceFigures, millis: Long): ReadSummary = {
    def since(name: String): Long =
      math.max(0, now.totals.getOrElse(name, 0L) - before.flatMap(_.totals.get(name)).getOrElse(0L))
    val worst = now.worst.headOption
    ReadSummary(
      batches = now.batch.fold(0L)(_.number) - before.flatMap(_.batch).fold(0L)(_.number),
      rows = since("rows"),
      bytes = since("bytes"),
      millis = millis,
      consumerMode = now.modeText,
      shards = now.shardsByExecutor.values.sum,
      executors = now.shardsByExecutor.size,
      behindMillis = worst.fold(0L)(_.millisBehind),
      worstShard = worst.map(_.name),
      expiresInMillis = now.expiresInMillis,
      bufferedBytes = now.bufferedBytes,
      bufferBytes = now.bufferBytes,
      pollingSlowdown = now.pollingSlowdown,
      throttled = since("throttles"),
      retried = since("retries"),
      mostThrottled = now.throttled.headOption.filter(_ => since("throttles") > 0).map { calls =>
        val shard = calls.shard.fold("")(id => s" $id")
        val where = now.executorOf(calls).fold("")(id => s" on executor $id")
        s"${calls.operation} of ${SourceFigures.nameOf(calls.stream)}$shard$where, ${calls.calls} since the start"
      },
      runningMillis = now.batch.filter(_.isRunning).map(_.millis)
    )
  }
}
