package org.sparkkinesis.simulation.rate

import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.Random

import org.sparkkinesis.config.Options
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.service.StreamDescription
import org.sparkkinesis.simulation.common.{SimulatedThreads, SimulatedTime}
import org.sparkkinesis.simulation.model.{ModelKinesis, ModelSettings}
import org.sparkkinesis.sink.SinkMetrics
import org.sparkkinesis.sink.kinesis.put.SinkRecord
import org.sparkkinesis.sink.kinesis.{
  CheckedStream, KinesisSinkSettings, KinesisStreamSink, SharedStreamLimits, SinkProcess
}

/** Writers with the real sink that always have records, on virtual time, against the model of the service. */
final class WriteRace(shards: Int, options: Map[String, String], seed: Long = 1) extends AutoCloseable {
  import WriteRace._

  private val random = new Random(seed)
  private val time = new SimulatedTime(StartMillis)
  private val threads = new SimulatedThreads(time.scheduler)
  private val service = new ModelKinesis(time.scheduler, random, ModelSettings())
  private val arn = ModelKinesis.arn(ModelKinesis.Account, Stream)
  private val settings = KinesisSinkSettings.of(Options.read(options))
  private val stored = mutable.Map.empty[Byte, Long].withDefaultValue(0L)
  private var writers = Vector.empty[Writer]
  private var isOver = false
  service.create(arn, shards, 24)
  service.onStored(put => stored(put.entry.data(0)) += 1)

  /** The state of a process. The sinks of one process share its limits. */
  def process(senders: Int): SinkProcess =
    new SinkProcess(time.scheduler, new SharedStreamLimits, threads.condition, () => random.nextDouble(), senders)

  /** Starts a writer. */
  def start(process: SinkProcess, pauseMillis: Int = 0): Writer = {
    val writer = new Writer(writers.size.toByte, process, pauseMillis)
    writers :+= writer
    writer
  }

  /** Runs for this time, and returns how many records of each writer were stored in it. */
  def run(duration: FiniteDuration): Seq[Long] = {
    val before = writers.map(writer => stored(writer.id))
    time.scheduler.advance(duration)
    writers.zip(before).map { case (writer, count) => stored(writer.id) - count }
  }

  override def close(): Unit = {
    isOver = true
    threads.endAll()
  }

  /**
   * A task that writes without end.
   *
   * @param pauseMillis
   *   time between two records; 0 for as many as the sink accepts
   */
  final class Writer private[WriteRace] (val id: Byte, process: SinkProcess, pauseMillis: Int) {
    private var isStopped = false
    private val client = service.client(s"process-$id", () => true)
    private val sink =
      KinesisStreamSink.open(client, checked, settings, settings.newBounds, process)
    threads.start(s"writer-$id") {
      var n = 0L
      while (!isOver && !isStopped) {
        sink.write(new SinkRecord(s"$id-$n", None, Array(id)))
        n += 1
        if (pauseMillis > 0) threads.sleep(pauseMillis.millis)
      }
    }

    def stop(): Unit = isStopped = true

    def metrics: SinkMetrics = sink.metrics.requests
  }

  private def checked: CheckedStream = {
    val ref = StreamRef.ByName(Stream)
    val found: StreamDescription = {
      val asked = service.client("driver", () => true).describeStream(ref)
      time.scheduler.advanceUntil(1.minute)(asked.isDone)
      asked.get()
    }
    CheckedStream.of(ref, found, None)
  }
}

object WriteRace {
  private val StartMillis = 1_750_000_000_000L
  private val Stream = "orders"
}
