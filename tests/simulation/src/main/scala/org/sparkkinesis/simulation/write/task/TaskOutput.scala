package org.sparkkinesis.simulation.write.task

import java.util.concurrent.CompletableFuture

import scala.concurrent.duration.FiniteDuration

import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.metadata.PhysicalStream
import org.sparkkinesis.service.PutResult
import org.sparkkinesis.simulation.common.Violation
import org.sparkkinesis.simulation.metadata.LogicalStream
import org.sparkkinesis.sink.kinesis._
import org.sparkkinesis.sink.kinesis.put.SinkRecord
import org.sparkkinesis.sink.route.{RouteNews, RoutedSink, Routes, StreamSelector}
import org.sparkkinesis.spark.write.route.RouteAccess

/** What an attempt writes its rows to, as a `DataWriter` does. */
sealed private[task] trait TaskOutput extends AutoCloseable {
  def write(row: WriteRow, record: SinkRecord): Unit
  def flush(): Unit
  def metrics: KinesisSinkMetrics
}

/** The streams that the rows name. */
final private[task] class NamedOutput(streams: TaskStreams, settings: KinesisSinkSettings) extends TaskOutput {
  private val router = new StreamRouter(
    streams.check(_, settings.requests.deliveryTimeout),
    streams.open(_, settings),
    (stream, failure) => streams.explain(stream.stream, failure)
  )

  override def write(row: WriteRow, record: SinkRecord): Unit = {
    val stream = WriteAttempt.reference(row.target)
    router.violation(stream, record).foreach(why => throw new Violation("record", why))
    router.write(stream, record)
  }
  override def flush(): Unit = router.flush()
  override def metrics: KinesisSinkMetrics = router.metrics
  override def close(): Unit = router.close()
}

/**
 * The physical streams of a logical stream.
 *
 * @param onLeft
 *   called when records are to be written to other streams because of a failure
 */
final private[task] class RoutedOutput(
    routes: Routes,
    selectors: () => StreamSelector,
    streams: TaskStreams,
    executor: WriterProcess,
    settings: KinesisSinkSettings,
    onLeft: (PhysicalStream, Throwable) => Unit
) extends TaskOutput {
  private val stallTimeout = RouteAccess.stallTimeout(settings)
  private val impatient = settings.copy(requests = settings.requests.copy(stallTimeout = stallTimeout))

  private val access = new RoutedSink.Access {
    override def open(
        stream: PhysicalStream,
        isAlone: Boolean,
        stop: CompletableFuture[Unit]
    ): StreamRouter.Target = {
      val checked = streams.check(stream.stream, if (isAlone) settings.requests.deliveryTimeout else stallTimeout)
      streams.open(checked, if (isAlone) settings else impatient)
    }

    override def tryOut(
        stream: PhysicalStream,
        record: SinkRecord,
        limit: FiniteDuration
    ): CompletableFuture[Unit] = {
      val answer = executor.client.putRecords(stream.stream, IndexedSeq(record))
      executor.process.scheduler.schedule(limit) {
        answer.cancel(true)
        ()
      }
      Futures.abortable(answer) {
        case IndexedSeq(_: PutResult.Accepted) => ()
        case refused => throw new StreamUnusable(s"the stream has not stored the record: $refused")
      }
    }

    override def pause(done: CompletableFuture[_], limit: FiniteDuration): Unit = streams.pause(done, limit)

    override def awaitEnd(done: CompletableFuture[_], limit: FiniteDuration): Unit =
      try pause(done, limit)
      catch { case _: InterruptedException => pause(done, limit) }

    override def judge(failure: Throwable): Option[Boolean] = failure match {
      case _: StreamUnusable => Some(true)
      case other => RouteAccess.isPermanent(other)
    }

    override def left(stream: PhysicalStream, isPermanent: Boolean, failure: Throwable, records: Int): Unit = {
      onLeft(stream, failure)
      streams.forget(stream.stream)
      executor.leave(stream, isPermanent)(() =>
        executor.client.describeStream(stream.stream).thenAccept(streams.refuseUnusable(_))
      )
    }

    override def explain(stream: PhysicalStream, failure: Throwable): Throwable =
      streams.explain(stream.stream, failure)

    override def invalid(stream: String, reason: String, record: SinkRecord): Unit =
      throw new Violation("record", reason)
  }

  private val sink = new RoutedSink(
    routes,
    RouteNews.None,
    selectors,
    executor.health,
    settings.requests.deliveryTimeout,
    executor.process.scheduler,
    access
  )

  override def write(row: WriteRow, record: SinkRecord): Unit = sink.write(LogicalStream.Id, record)
  override def flush(): Unit = sink.flush()
  override def metrics: KinesisSinkMetrics = sink.metrics
  override def close(): Unit = sink.close()
}
