package org.sparkkinesis.bench.sink

import java.util.concurrent.{CompletableFuture, Executors, TimeUnit}

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.sink.kinesis.put.SinkRecord
import org.sparkkinesis.sink.kinesis.{
  CheckedStream, KinesisSinkSettings, KinesisStreamSink, SharedStreamLimits, SinkProcess
}
import org.sparkkinesis.sink.{SharedTimer, SinkMetrics}

/**
 * Writers with unlimited records, one thread each, until they are stopped. Their counters are read at fixed
 * intervals.
 *
 * @param limits
 *   the limits of the writers' process
 * @param pause
 *   time between two records of a writer
 */
final class WriteLoad(
    target: WriteTarget,
    stream: String,
    settings: KinesisSinkSettings,
    keys: Seq[Long => SinkRecord],
    limits: SharedStreamLimits = SharedStreamLimits.OfJvm,
    pause: FiniteDuration = Duration.Zero
) extends AutoCloseable {
  private val timer = SharedTimer.acquire()
  private val sampler = Executors.newSingleThreadScheduledExecutor()
  private val ref = StreamRef.ByName(stream)
  private val checked =
    CheckedStream.of(ref, target.plain.lease.service.describeStream(ref).get(), Some(target.endpoint))
  private val sinks = keys.map(_ =>
    KinesisStreamSink.open(
      target.plain.lease.service,
      checked,
      settings,
      settings.newBounds,
      new SinkProcess(timer, limits)
    )
  )
  @volatile private var running = true
  private val tasks = sinks.lazyZip(keys).map { (sink, key) =>
    CompletableFuture.runAsync(
      () => {
        var n = 0L
        while (running) {
          sink.write(key(n))
          if (pause > Duration.Zero) TimeUnit.NANOSECONDS.sleep(pause.toNanos)
          n += 1
        }
        sink.flush()
      },
      command => new Thread(command).start()
    )
  }

  /** Returns the counters of each [[WriteLoad.Interval]] from now on. */
  def sample(time: FiniteDuration): CompletableFuture[IndexedSeq[SinkMetrics]] = {
    val done = new CompletableFuture[IndexedSeq[SinkMetrics]]
    val wanted = math.max(1, (time / WriteLoad.Interval).toInt)
    val found = mutable.ArrayBuffer.empty[SinkMetrics]
    var before = now
    val every = WriteLoad.Interval.toNanos
    val sampling = sampler.scheduleAtFixedRate(
      () =>
        if (!done.isDone) {
          val after = now
          found += before.until(after)
          before = after
          tasks.find(_.isCompletedExceptionally).foreach(_.whenComplete { (_, error) =>
            done.completeExceptionally(error)
            ()
          })
          if (found.size == wanted) { done.complete(found.toIndexedSeq); () }
        },
      every,
      every,
      TimeUnit.NANOSECONDS
    )
    done.whenComplete { (_, _) => sampling.cancel(false); () }
  }

  override def close(): Unit = {
    running = false
    tasks.foreach(_.get())
    sampler.shutdown()
    sinks.foreach(_.close())
    timer.close()
  }

  private def now: SinkMetrics = sinks.map(_.metrics.requests).reduce(_ + _)
}

object WriteLoad {
  val Interval: FiniteDuration = 250.millis

  def perSecond(series: Seq[SinkMetrics]): Double =
    series.map(_.entriesOut).sum / (series.size * Interval.toNanos / 1e9)

  def refusedShare(series: Seq[SinkMetrics]): Double =
    series.map(_.throttled).sum.toDouble / math.max(1L, series.map(_.entriesSent).sum)
}
