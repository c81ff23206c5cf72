package org.sparkkinesis.aws.reading

import java.io.ByteArrayInputStream
import java.net.URI
import java.util.concurrent.TimeUnit

import io.netty.channel.nio.NioEventLoopGroup
import io.netty.handler.ssl.SslContextBuilder
import software.amazon.awssdk.auth.credentials.{AwsBasicCredentials, StaticCredentialsProvider}
import software.amazon.awssdk.http.SdkHttpConfigurationOption
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient
import software.amazon.awssdk.utils.AttributeMap

import org.sparkkinesis.aws.client.{CredentialSettings, RequestEncoding, SdkKinesisService, TestIdentity}
import org.sparkkinesis.aws.getrecords.GetRecordsClient
import org.sparkkinesis.aws.putrecords.PutRecordsClient
import org.sparkkinesis.aws.request.{EndpointSettings, KinesisEndpoints, SignedCalls}
import org.sparkkinesis.aws.subscription.SubscriptionTransport
import org.sparkkinesis.aws.transport.{Http2Transport, HttpTransport}
import org.sparkkinesis.chunk.DecodeSettings
import org.sparkkinesis.concurrent.SystemScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.fanout._
import org.sparkkinesis.consume.poll.{PollingPublisherFactory, PollingSettings}
import org.sparkkinesis.consume.{PrefetchBuffer, RecordPublisherFactory, ShardConsumers}
import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.event.{ConsumerMetrics, EventSink}
import org.sparkkinesis.model.StartingPosition.TrimHorizon
import org.sparkkinesis.model.{StreamShard, _}
import org.sparkkinesis.network.Network
import org.sparkkinesis.retry.{RetryPolicies, RetryRules}
import org.sparkkinesis.service.{PutEntry, PutResult}
import org.sparkkinesis.suite.TimedSuite

/** Reads over TLS, as from the real service, but with a certificate that only the test trusts. */
class TlsSuite extends TimedSuite {
  private val trustAll =
    AttributeMap.builder().put(SdkHttpConfigurationOption.TRUST_ALL_CERTIFICATES, java.lang.Boolean.TRUE).build()
  private val credentials = StaticCredentialsProvider.create(AwsBasicCredentials.create("AKIDEXAMPLE", "secret"))

  private def onService(alpn: Boolean)(use: (KinesisEmulator, SdkKinesisService) => Unit): Unit = {
    val emulator = KinesisEmulator.start(EmulatorConfig(quotas = false, tls = true))
    val endpoint = URI.create(emulator.endpoint)
    val asked = NettyNioAsyncHttpClient.builder().buildWithDefaults(trustAll)
    val client = KinesisAsyncClient.builder().region(Region.US_EAST_1).endpointOverride(endpoint)
      .credentialsProvider(credentials).httpClient(asked).build()
    val endpoints = new KinesisEndpoints(Region.US_EAST_1, new EndpointSettings("Kinesis", Some(endpoint), None))
    val identity = TestIdentity.of(CredentialSettings.Static("AKIDEXAMPLE", "secret", None))
    val trusted = SslContextBuilder.forClient().trustManager(
      new ByteArrayInputStream(emulator.certificatePem.getBytes("US-ASCII"))
    ).build()
    val offering = SslContextBuilder.forClient().trustManager(
      new ByteArrayInputStream(emulator.certificatePem.getBytes("US-ASCII"))
    )
    if (alpn) Http2Transport.offered(offering)
    val loops = new NioEventLoopGroup(1)
    val pushed = new Http2Transport(Network.Standard, () => offering.build(), loops, 512 * 1024, 1)
    val own = new HttpTransport(Network.Standard, () => trusted, loops)
    val signed =
      new SignedCalls("kinesis", "us-east-1", own, credentials, identity.clock, Network.Standard.requestTimeout, "test")
    val puts = new PutRecordsClient(endpoints, signed)
    val transport = new SubscriptionTransport(endpoints, identity, pushed, "test")
    val gets = new GetRecordsClient(endpoints, signed)
    val service = new SdkKinesisService(
      client,
      puts,
      gets,
      transport,
      None,
      Seq(own),
      identity,
      EventSink.Discard,
      RequestEncoding.Cbor
    )
    try {
      assert(emulator.endpoint.startsWith("https://"), emulator.endpoint)
      use(emulator, service)
    } finally {
      service.close()
      asked.close()
      loops.shutdownGracefully(0, 1, TimeUnit.SECONDS)
      emulator.close()
    }
  }

  private def readAll(emulator: KinesisEmulator, metrics: ConsumerMetrics, scheduler: SystemScheduler)(
      publishers: String => RecordPublisherFactory
  ): Unit = {
    val arn = emulator.admin.createStream("secure", 2)
    val listener = new RecordingListener
    val consumers =
      new ShardConsumers(
        publishers(arn),
        new PrefetchBuffer(64L << 20),
        DecodeSettings.of(Options.defaults),
        listener,
        metrics
      )
    val shards = (0L until 2L).map(i => StreamShard(arn, ShardId.ofIndex(i)))
    try {
      val texts = (1 to 2000).map(_.toString)
      texts.take(1000).foreach(text => emulator.admin.putRecord("secure", text, text.getBytes("UTF-8")))
      shards.foreach(consumers.start(_, TrimHorizon, 1))
      listener.awaitUntil(s"${listener.totalRows} rows")(listener.totalRows.get == 1000)
      texts.drop(1000).foreach(text => emulator.admin.putRecord("secure", text, text.getBytes("UTF-8")))
      listener.awaitUntil(s"${listener.totalRows} rows")(listener.totalRows.get == 2000)
      val read = shards.flatMap(shard =>
        Rows.held(consumers.read(shard, TrimHorizon, listener.chunks.get(shard).last.last).get)
      )
      assert(read.sortBy(_.toInt) == texts)
    } finally {
      consumers.stopAll()
      scheduler.close()
    }
  }

  Seq("by ALPN" -> true, "without ALPN" -> false).foreach { case (how, alpn) =>
    test(s"subscriptions work over TLS with HTTP/2 negotiated $how") {
      onService(alpn) { (emulator, service) =>
        val (scheduler, metrics) = (new SystemScheduler("tls", 2), new ConsumerMetrics)
        readAll(emulator, metrics, scheduler) { arn =>
          val consumer = new StreamConsumerRegistrar(
            service,
            scheduler,
            RetryPolicies.of(Options.defaults),
            RetryRules.Default
          ).ensure(arn, "etl").get(30, TimeUnit.SECONDS)
          new FanOutPublisherFactory(
            _ => service,
            _ => consumer,
            FanOutSettings.Standard,
            RetryPolicies.of(Options.defaults),
            RetryRules.Default,
            scheduler,
            metrics
          )
        }
        assert(metrics.resubscriptions.sum == 0L)
        assert(emulator.calls.count("SubscribeToShard", "secure") == 2L)
      }
    }
  }

  test("polling works over TLS") {
    onService(alpn = false) { (emulator, service) =>
      val (scheduler, metrics) = (new SystemScheduler("tls", 2), new ConsumerMetrics)
      readAll(emulator, metrics, scheduler) { _ =>
        val settings = PollingSettings.of(Options.defaults).copy(maxFetchesPerSecond = 100)
        new PollingPublisherFactory(
          _ => service,
          settings,
          RetryPolicies.of(Options.defaults),
          RetryRules.Default,
          scheduler,
          metrics
        )
      }
      assert(metrics.retries.sum == 0L)
    }
  }

  test("records are written over TLS") {
    onService(alpn = false) { (emulator, service) =>
      emulator.admin.createStream("written", 1)
      val entries = (1 to 500).map(i => PutEntry(i.toString, None, new Array[Byte](1000)))
      val results = service.putRecords(StreamRef.ByName("written"), entries).get(30, TimeUnit.SECONDS)
      assert(results.count { case _: PutResult.Accepted => true; case _ => false } == 500)
    }
  }
}
