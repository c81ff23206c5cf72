package org.sparkkinesis.chaos.writing

import org.sparkkinesis.aws.client.{ClientSettings, CredentialSettings, KinesisClients}
import org.sparkkinesis.emulator.KinesisEmulator
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.sink.kinesis.put.SinkRecord
import org.sparkkinesis.sink.kinesis.{CheckedStream, KinesisSinkSettings, KinesisStreamSink, SinkProcess}
import org.sparkkinesis.sink.{SharedTimer, SinkMetrics}

/** Writes to a stream of the emulator. */
final class KinesisTarget(kinesis: KinesisEmulator, stream: String, settings: KinesisSinkSettings) extends LoadTarget {
  private val lease = KinesisClients.shared.acquire(KinesisTarget.client(kinesis))
  private val ref = StreamRef.ByName(stream)
  private val checked = CheckedStream.of(ref, lease.service.describeStream(ref).get(), Some(kinesis.endpoint))

  override def open(timer: SharedTimer): LoadSink = new LoadSink {
    private val sink =
      KinesisStreamSink.open(lease.service, checked, settings, settings.newBounds, new SinkProcess(timer))
    override def write(key: String, payload: Array[Byte]): Unit = sink.write(new SinkRecord(key, None, payload))
    override def flush(): Unit = sink.flush()
    override def metrics: SinkMetrics = sink.metrics.requests
    override def close(): Unit = sink.close()
  }

  override def close(): Unit = lease.close()
}

object KinesisTarget {

  /** The settings of a client of the emulator. */
  def client(kinesis: KinesisEmulator): ClientSettings = ClientSettings.of(
    Some(kinesis.region),
    Some(kinesis.endpoint),
    CredentialSettings.Static("AKIDEXAMPLE", "secret", None)
  )
}
