package org.sparkkinesis.bench.sink

import java.util.concurrent.CompletableFuture
import java.util.concurrent.atomic.LongAdder

import org.sparkkinesis.bench.{LoopGroup, Measured, MeasuredLoop, Meter, Rounds}
import org.sparkkinesis.concurrent.SystemScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.event.log.{EventLog, QueryContext}
import org.sparkkinesis.event.{BatchWritten, EventSink}
import org.sparkkinesis.json.Json
import org.sparkkinesis.kit.Arguments
import org.sparkkinesis.sink.kinesis.KinesisSinkSettings
import org.sparkkinesis.sink.limit.{NoRateLimiting, RateLimitingContext}
import org.sparkkinesis.sink.writer.AsyncSinkWriter
import org.sparkkinesis.sink.{SinkDestination, Verdict}

/**
 * Measures what an event for each request or for each entry would add to the sink's writer, which counts in its own
 * fields: `EventCostBenchmark [--seconds N] [--records N] [--only NAME,NAME]`. The destination accepts every entry at
 * once. An event has a counter and the log as listeners, and the log does not write its level. The last line is one
 * JSON object, see [[org.sparkkinesis.bench.Rounds]].
 */
object EventCostBenchmark {
  private val EntryBytes = 200

  /** How many events a request causes. */
  sealed private trait Events
  private case object NoEvent extends Events
  private case object PerRequest extends Events
  private case object PerEntry extends Events

  def main(args: Array[String]): Unit = {
    val arguments = Arguments(args)
    val records = arguments.number("records", 5000000).toLong
    val scheduler = new SystemScheduler("bench", 1)
    try {
      val loops = Seq(
        new WriterLoop("fields", NoEvent, scheduler),
        new WriterLoop("event_per_request", PerRequest, scheduler),
        new WriterLoop("event_per_entry", PerEntry, scheduler)
      )
      val measured = Rounds.run(arguments, Seq(LoopGroup(loops)), records, arguments.seconds(30))(())
      println(Json.render(Json.obj(Rounds.json(measured): _*)))
    } finally scheduler.close()
  }

  final private class WriterLoop(val name: String, kind: Events, scheduler: SystemScheduler) extends MeasuredLoop {
    private val counted = new LongAdder
    private val counter: EventSink = {
      case written: BatchWritten => counted.add(written.records)
      case _ => ()
    }
    private val events = EventSink.all(counter, new EventLog(QueryContext.Unknown))

    override def run(records: Long): Measured = {
      val settings = KinesisSinkSettings.of(Options.defaults).requests
      val unlimited =
        new NoRateLimiting(RateLimitingContext(settings.maxBatchSize, settings.maxInFlightRequests, () => 1, 1000))
      counted.reset()
      val writer =
        new AsyncSinkWriter[Integer](destination, unlimited.open(), settings, settings.newBounds, scheduler)
      val found =
        try
          Meter.measure(records) {
            var i = 0L
            while (i < records) {
              writer.write(Integer.valueOf((i & 127).toInt))
              i += 1
            }
            writer.flush()
          }
        finally writer.close()
      val expected = if (kind == NoEvent) 0 else records
      if (counted.sum != expected) throw new IllegalStateException(s"$name counted ${counted.sum} of $expected")
      found
    }

    private val destination: SinkDestination[Integer] = new SinkDestination[Integer] {
      override def sizeOf(entry: Integer): Int = EntryBytes
      override def send(batch: IndexedSeq[Integer]): CompletableFuture[IndexedSeq[Verdict]] = {
        kind match {
          case NoEvent => ()
          case PerRequest => emit(batch.size)
          case PerEntry => batch.foreach(_ => emit(1))
        }
        CompletableFuture.completedFuture(batch.map(_ => Verdict.Accepted))
      }
    }

    private def emit(entries: Int): Unit = events.emit(BatchWritten(None, entries.toLong, 1, 0, 0))
  }
}
