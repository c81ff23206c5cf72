package org.sparkkinesis.chaos.firehose

import scala.concurrent.duration._

import org.sparkkinesis.aws.client.SdkClients
import org.sparkkinesis.chaos.writing.{KinesisTarget, LoadSink, LoadTarget}
import org.sparkkinesis.config.FirehoseOptions
import org.sparkkinesis.emulator.KinesisEmulator
import org.sparkkinesis.event.EventSink
import org.sparkkinesis.firehose.{FirehoseDestination, FirehoseSinkSettings, JsonFirehoseService}
import org.sparkkinesis.sink.limit.{AimdRateLimiting, RateLimitingContext}
import org.sparkkinesis.sink.writer.AsyncSinkWriter
import org.sparkkinesis.sink.{SharedTimer, SinkMetrics}

/** Writes to a delivery stream of the emulator, with short times and small buffers. */
final class FirehoseTarget(kinesis: KinesisEmulator, stream: String) extends LoadTarget {
  private val settings = FirehoseSinkSettings.of(FirehoseOptions.read(Map.empty))
  private val requests =
    settings.requests.copy(maxTimeInBuffer = 50.millis, requestTimeout = 1500.millis, maxBufferedEntries = 5000)
  private val service =
    new JsonFirehoseService(SdkClients.firehose(KinesisTarget.client(kinesis)))
  private val strategy =
    new AimdRateLimiting(RateLimitingContext(requests.maxBatchSize, requests.maxInFlightRequests, () => 1, 10000))

  override def open(timer: SharedTimer): LoadSink = new LoadSink {
    private val writer = new AsyncSinkWriter[Array[Byte]](
      new FirehoseDestination(service, stream, settings.rules, EventSink.Discard),
      strategy.open(),
      requests,
      requests.newBounds,
      timer
    )
    override def write(key: String, payload: Array[Byte]): Unit = writer.write(payload)
    override def flush(): Unit = writer.flush()
    override def metrics: SinkMetrics = writer.metrics
    override def close(): Unit = writer.close()
  }

  override def close(): Unit = service.close()
}
