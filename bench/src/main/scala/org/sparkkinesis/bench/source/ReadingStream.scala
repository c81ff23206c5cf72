package org.sparkkinesis.bench.source

import java.util.concurrent.{CompletableFuture, TimeUnit}

import software.amazon.awssdk.core.SdkBytes
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient
import software.amazon.awssdk.services.kinesis.model._

import org.sparkkinesis.aws.client.{ClientSettings, CredentialSettings}
import org.sparkkinesis.concurrent.Scheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.fanout.StreamConsumerRegistrar
import org.sparkkinesis.model.KinesisQuotas
import org.sparkkinesis.retry.{RetryPolicies, RetryRules}
import org.sparkkinesis.service.KinesisService

/** The stream that the reading benchmarks use, and its records. */
object ReadingStream {
  val Name = "bench"
  private val RecordBytes = 200

  /** Returns the settings with which the connector's client finds the emulator. */
  def settings(endpoint: String): ClientSettings =
    ClientSettings.of(Some("us-east-1"), Some(endpoint), CredentialSettings.Static("AKIDEXAMPLE", "secret", None))

  /** Creates a stream and returns its ARN when it is active. */
  def createStream(client: KinesisAsyncClient, shards: Int, name: String = Name): String = {
    client.createStream(CreateStreamRequest.builder().streamName(name).shardCount(shards).build()).join()
    client.waiter().waitUntilStreamExists(DescribeStreamRequest.builder().streamName(name).build()).join()
    val request = DescribeStreamSummaryRequest.builder().streamName(name).build()
    client.describeStreamSummary(request).join().streamDescriptionSummary.streamARN
  }

  /** Registers a consumer of a stream, and returns the consumer's ARN when it is active. */
  def registerConsumer(service: KinesisService, scheduler: Scheduler, arn: String, name: String): String =
    new StreamConsumerRegistrar(service, scheduler, RetryPolicies.of(Options.defaults), RetryRules.Default)
      .ensure(arn, name).get(1, TimeUnit.MINUTES)

  /** Returns one hash key in each shard of a new stream. */
  def hashKeys(shards: Int): IndexedSeq[String] = (0 until shards).map(i =>
    (BigInt(2).pow(128) / shards * i + 1).toString
  )

  /** Creates the stream with `records` records and returns its ARN. */
  def load(client: KinesisAsyncClient, shards: Int, records: Int): String = {
    val arn = createStream(client, shards)
    val payload = SdkBytes.fromByteArray(Array.fill[Byte](RecordBytes)('x'))
    val hashes = hashKeys(shards)
    (0 until records).grouped(KinesisQuotas.Request.PutRecordsEntries).grouped(8).foreach { batches =>
      val calls = batches.map { batch =>
        val entries = batch.map { i =>
          PutRecordsRequestEntry.builder().partitionKey(
            s"key-$i"
          ).explicitHashKey(hashes(i % shards)).data(payload).build()
        }
        val list = new java.util.ArrayList[PutRecordsRequestEntry](entries.size)
        entries.foreach(list.add)
        client.putRecords(PutRecordsRequest.builder().streamName(Name).records(list).build())
      }
      CompletableFuture.allOf(calls: _*).join()
      calls.foreach(call => require(call.join().failedRecordCount == 0, "the emulator refused records"))
    }
    arn
  }
}
