package org.sparkkinesis.bench.sink

import java.util.concurrent.Semaphore
import java.util.concurrent.atomic.LongAdder

import software.amazon.awssdk.core.SdkBytes
import software.amazon.awssdk.http.Protocol
import software.amazon.awssdk.http.apache5.Apache5HttpClient
import software.amazon.awssdk.services.kinesis.model.{PutRecordsRequest, PutRecordsRequestEntry, PutRecordsResponse}
import software.amazon.awssdk.services.kinesis.{KinesisAsyncClient, KinesisClient}

import org.sparkkinesis.bench.source.BareClients

/**
 * The SDK's clients that write, with their defaults except for endpoint, credentials and HTTP client.
 *
 * @param suffix
 *   the end of the loops' names
 */
final class BarePutClients(endpoint: String, suffix: String = "") extends AutoCloseable {
  private val http2 = BareClients.asynchronous(endpoint)
  private val http1 = BareClients.asynchronous(endpoint, Protocol.HTTP1_1)
  private val apache = BareClients.synchronous(endpoint, Apache5HttpClient.builder())

  def putLoops(target: WriteTarget, size: Int): Seq[MeasuredBareLoop] = Seq(
    new AsyncPutLoop(s"put_sdk_http2$suffix", http2, target, size),
    new AsyncPutLoop(s"put_sdk_http1$suffix", http1, target, size),
    new SyncPutLoop(s"put_sdk_apache$suffix", apache, target, size)
  )

  override def close(): Unit = Seq(http2, http1, apache).foreach(_.close())
}

/** A bare loop builds requests of 500 records, and fails if a record is refused. */
abstract class MeasuredBareLoop(target: WriteTarget, size: Int) extends PutLoop(target) {
  private val payload = new Array[Byte](size)

  /** Sends all requests of a task. */
  protected def requests(stream: String, task: Int, count: Long)(send: PutRecordsRequest => Unit): Unit = {
    var sent = 0L
    while (sent < count) {
      val batch = new java.util.ArrayList[PutRecordsRequestEntry](500)
      while (batch.size < 500 && sent < count) {
        batch.add(PutRecordsRequestEntry.builder().partitionKey(
          s"$task-$sent"
        ).data(SdkBytes.fromByteArrayUnsafe(payload.clone())).build())
        sent += 1
      }
      send(PutRecordsRequest.builder().streamName(stream).records(batch).build())
    }
  }

  protected def isStored(answer: PutRecordsResponse): Boolean = answer.failedRecordCount == 0
}

/** Two tasks that send the requests of an asynchronous client. */
final class AsyncPutLoop(val name: String, client: KinesisAsyncClient, target: WriteTarget, size: Int)
    extends MeasuredBareLoop(target, size) {
  import PutLoop._

  override protected def write(stream: String, records: Long): Unit = {
    val failed = new LongAdder
    inTasks(2, records) { (task, count) =>
      val slots = new Semaphore(InFlight / 2)
      requests(stream, task, count) { request =>
        slots.acquire()
        client.putRecords(request).whenComplete { (answer, error) =>
          if (error != null || !isStored(answer)) failed.increment()
          slots.release()
        }
        ()
      }
      slots.acquire(InFlight / 2)
    }
    if (failed.sum > 0) throw new IllegalStateException(s"${failed.sum} requests failed")
  }
}

/** One thread for each request in flight of a synchronous client. */
final class SyncPutLoop(val name: String, client: KinesisClient, target: WriteTarget, size: Int)
    extends MeasuredBareLoop(target, size) {
  import PutLoop._

  override protected def write(stream: String, records: Long): Unit = inTasks(InFlight, records) { (task, count) =>
    requests(stream, task, count) { request =>
      if (!isStored(client.putRecords(request))) throw new IllegalStateException("the emulator refused records")
    }
  }
}
