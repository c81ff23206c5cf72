package org.sparkkinesis.chaos.writing

import java.util.concurrent.atomic.AtomicLong
import java.util.concurrent.{CompletableFuture, TimeUnit, TimeoutException}

import scala.concurrent.duration._
import scala.util.{Random, Using}

import org.sparkkinesis.sink.{SharedTimer, SinkMetrics}

/** The destination of a load, which opens one sink for each writer. */
trait LoadTarget extends AutoCloseable {
  def open(timer: SharedTimer): LoadSink
}

/** A sink of the connector, for one thread. */
trait LoadSink extends AutoCloseable {
  def write(key: String, payload: Array[Byte]): Unit
  def flush(): Unit
  def metrics: SinkMetrics
}

/**
 * Writers over the real client with unlimited numbered records, one thread and separate keys each, until `finish`. A
 * payload is a line with its number.
 *
 * @param target
 *   this instance owns it
 */
final class WriterLoad(target: LoadTarget, writers: Int, seed: Long) extends AutoCloseable {
  private val KeysOfEach = 40
  private val numbers = new AtomicLong
  @volatile private var running = true

  private val timer = SharedTimer.acquire()
  private val sinks = (0 until writers).map(_ => target.open(timer))
  private val tasks = sinks.zipWithIndex.map { case (sink, writer) =>
    CompletableFuture.runAsync(() => write(sink, writer), task => new Thread(task, s"chaos-writer-$writer").start())
  }
  private val ended = CompletableFuture.allOf(tasks: _*)

  private def write(sink: LoadSink, writer: Int): Unit = {
    val keys = new Random(seed + writer)
    while (running) {
      val payload = f"${numbers.incrementAndGet()}%-199d\n".getBytes("US-ASCII")
      sink.write(s"w$writer-k${keys.nextInt(KeysOfEach)}", payload)
    }
    sink.flush()
  }

  /** The number of records passed to `write`, including the one with which each writer may block. */
  def written: Long = numbers.get

  def metrics: SinkMetrics = sinks.map(_.metrics).reduce(_ + _)

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
      use.acquire(target)
      sinks.foreach(use.acquire(_))
    }.get
  }
}
