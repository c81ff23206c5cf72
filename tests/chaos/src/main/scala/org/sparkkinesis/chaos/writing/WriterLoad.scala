package org.sparkkinesis.chaos.writing

import java.util.concurrent.atomic.AtomicLong
import java.util.concurrent.{CompletableFuture, TimeUnit, TimeoutException}

import scala.concurrent.duration._
import scala.util.{Random, Using}

import org.sparkkinesis.aws.client.{ClientSettings, CredentialSettings, KinesisClients}
import org.sparkkinesis.emulator.KinesisEmulator
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.sink.kinesis.put.SinkRecord
import org.sparkkinesis.sink.kinesis.{CheckedStream, KinesisSinkSettings, KinesisStreamSink, SinkProcess}
import org.sparkkinesis.sink.{SharedTimer, SinkMetrics}

/**
 * Writers over the real client with unlimited numbered records, one thread and separate keys each, until `finish`.
 */
final class WriterLoad(
    kinesis: KinesisEmulator,
    stream: String,
    settings: KinesisSinkSettings,
    writers: Int,
    seed: Long
) extends AutoCloseable {
  private val KeysOfEach = 40
  private val numbers = new AtomicLong
  @volatile private var running = true

  private val timer = SharedTimer.acquire()
  private val lease = KinesisClients.shared.acquire(ClientSettings.of(
    Some(kinesis.region),
    Some(kinesis.endpoint),
    CredentialSettings.Static("AKIDEXAMPLE", "secret", None)
  ))
  private val ref = StreamRef.ByName(stream)
  private val checked = CheckedStream.of(ref, lease.service.describeStream(ref).get(), Some(kinesis.endpoint))
  private val sinks = (0 until writers).map(_ =>
    KinesisStreamSink.open(lease.service, checked, settings, settings.newBounds, new SinkProcess(timer))
  )
  private val tasks = sinks.zipWithIndex.map { case (sink, writer) =>
    CompletableFuture.runAsync(() => write(sink, writer), task => new Thread(task, s"chaos-writer-$writer").start())
  }
  private val ended = CompletableFuture.allOf(tasks: _*)

  private def write(sink: KinesisStreamSink, writer: Int): Unit = {
    val keys = new Random(seed + writer)
    while (running) {
      val record = f"${numbers.incrementAndGet()}%-200d".getBytes("US-ASCII")
      sink.write(new SinkRecord(s"w$writer-k${keys.nextInt(KeysOfEach)}", None, record))
    }
    sink.flush()
  }

  /** The number of records passed to `write`, including the one with which each writer may block. */
  def written: Long = numbers.get

  def metrics: SinkMetrics = sinks.map(_.metrics.requests).reduce(_ + _)

  /** Lets the writers run this long; throws the error of a failed writer. */
  def letRun(time: FiniteDuration): Unit =
    try {
      CompletableFuture.anyOf(tasks: _*).get(time.toNanos, TimeUnit.NANOSECONDS)
      ()
    } catch { case _: TimeoutException => () }

  /** Lets the writers run until the condition holds, or until a writer fails. */
  def letRunUntil(condition: => Boolean): Unit = while (!condition) letRun(20.millis)

  /** Returns when every written record is stored. */
  def finish(): Unit = {
    running = false
    ended.get()
    ()
  }

  override def close(): Unit = {
    running = false
    Using.Manager { use =>
      use.acquire(timer)
      use.acquire(lease)
      sinks.foreach(use.acquire(_))
    }.get
  }
}
