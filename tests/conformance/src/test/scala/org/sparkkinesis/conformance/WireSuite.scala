package org.sparkkinesis.conformance

import java.net.URI

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import software.amazon.awssdk.auth.credentials.{AwsBasicCredentials, StaticCredentialsProvider}
import software.amazon.awssdk.core.SdkSystemSetting
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient
import software.amazon.awssdk.http.{Protocol, ProtocolNegotiation, SdkHttpConfigurationOption}
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient
import software.amazon.awssdk.services.kinesis.model._
import software.amazon.awssdk.utils.AttributeMap

import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.conformance.client.Subscription.Signal
import org.sparkkinesis.conformance.client.{Calls, Subscription}
import org.sparkkinesis.emulator.engine.time.EmulatorClock
import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}
import org.sparkkinesis.emulator.wire.http.Http2Limits
import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.suite.TimedSuite

/**
 * Tests that only the project's emulator supports: every protocol, the rate of pushed data, the five-minute limit,
 * and faults of the connection.
 */
class WireSuite extends TimedSuite {
  private val start = 1777319237000L

  private def onEmulator(
      config: EmulatorConfig = EmulatorConfig(),
      protocol: Protocol = Protocol.HTTP2,
      alpn: Boolean = false
  )(
      body: (KinesisEmulator, Calls) => Unit
  ): Unit = {
    val emulator = KinesisEmulator.start(config.copy(changeDelay = 0.seconds))
    val trustAll =
      AttributeMap.builder().put(SdkHttpConfigurationOption.TRUST_ALL_CERTIFICATES, java.lang.Boolean.TRUE).build()
    val http = NettyNioAsyncHttpClient.builder().protocol(protocol)
    if (alpn) http.protocolNegotiation(ProtocolNegotiation.ALPN)
    val client = KinesisAsyncClient
      .builder()
      .region(Region.US_EAST_1)
      .endpointOverride(URI.create(emulator.endpoint))
      .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("key", "secret")))
      .httpClient(http.buildWithDefaults(trustAll))
      .build()
    try {
      emulator.admin.createStream("s", 1)
      body(emulator, new Calls(client))
    } finally {
      client.close()
      emulator.close()
    }
  }

  private def roundTrip(calls: Calls): Unit = {
    calls.put("s", "k", "hällo")
    assert(
      calls.texts(calls.iterator("s", "shardId-000000000000", ShardIteratorType.TRIM_HORIZON)) ==
        Vector("hällo")
    )
    val consumer = calls.registerConsumer("s", "c")
    val subscription = subscribe(calls, consumer, ShardIteratorType.TRIM_HORIZON)
    assert(subscription.take(1) == Vector("hällo"))
    subscription.cancel()
  }

  private def subscribe(calls: Calls, consumer: String, from: ShardIteratorType): Subscription =
    Subscription.open(calls.client, consumer, "shardId-000000000000", Subscription.at(from)).awaitOpen()

  for {
    tls <- Seq(false, true)
    (protocol, alpn) <- Seq((Protocol.HTTP1_1, false), (Protocol.HTTP2, false), (Protocol.HTTP2, true))
    if tls || !alpn
  } test(s"polling and fan-out over $protocol${if (tls) " in TLS" else ""}${if (alpn) " by ALPN" else ""}") {
    onEmulator(EmulatorConfig(tls = tls), protocol, alpn)((_, calls) => roundTrip(calls))
  }

  test("polling and fan-out with JSON, and with few streams per connection") {
    System.setProperty(SdkSystemSetting.CBOR_ENABLED.property, "false")
    try onEmulator(EmulatorConfig(http2 = Http2Limits(maxConcurrentStreams = 5)))((_, calls) => roundTrip(calls))
    finally {
      System.clearProperty(SdkSystemSetting.CBOR_ENABLED.property)
      ()
    }
  }

  test("a backlog is pushed at 2 MiB/s after a burst of 2 MiB") {
    val clock = EmulatorClock.manual(start)
    onEmulator(EmulatorConfig(clock = clock)) { (emulator, calls) =>
      val data = new Array[Byte](512 * 1024 - 1)
      (1 to 20).foreach(_ => emulator.admin.putRecord("s", "k", data))
      val subscription = subscribe(calls, calls.registerConsumer("s", "c"), ShardIteratorType.TRIM_HORIZON)
      // Four records of 512 KiB use up the burst, and the fifth overdraws it.
      val burst = subscription.take(5)
      assert(burst.size == 5)
      assert(subscription.poll() == None)
      clock.advance(500.millis)
      assert(subscription.take(2).size == 2)
      clock.advance(10.seconds)
      assert(subscription.take(1).nonEmpty)
      subscription.cancel()
    }
  }

  test("a subscription completes after five minutes and is renewed from its continuation") {
    val clock = EmulatorClock.manual(start)
    onEmulator(EmulatorConfig(clock = clock)) { (emulator, calls) =>
      val consumer = calls.registerConsumer("s", "c")
      emulator.admin.putRecord("s", "k", "a".getBytes)
      val first = subscribe(calls, consumer, ShardIteratorType.TRIM_HORIZON)
      val event = first.nextEvent()
      clock.advance(5.minutes)
      assert(first.awaitEnd() == Signal.Completed)
      emulator.admin.putRecord("s", "k", "b".getBytes)
      val next = Subscription
        .open(calls.client, consumer, "shardId-000000000000", Subscription.after(event.continuationSequenceNumber))
        .awaitOpen()
      assert(next.take(1) == Vector("b"))
      next.cancel()
    }
  }

  test("an event behind the tip contains its lag") {
    val clock = EmulatorClock.manual(start)
    onEmulator(EmulatorConfig(clock = clock)) { (emulator, calls) =>
      val data = new Array[Byte](400 * 1024)
      (1 to 3).foreach(_ => emulator.admin.putRecord("s", "k", data))
      clock.advance(90.seconds)
      val subscription = subscribe(calls, calls.registerConsumer("s", "c"), ShardIteratorType.TRIM_HORIZON)
      assert(Seq.fill(3)(subscription.nextEvent().millisBehindLatest.longValue) == Seq(90000L, 90000L, 0L))
      subscription.cancel()
    }
  }

  test("an exception in the event stream reaches the subscriber with its type") {
    onEmulator() { (emulator, calls) =>
      val error = FaultEffect.Error(500, "InternalFailureException", "by request")
      emulator.faults.add(FaultRule(FaultEffect.FailAfter(1, error), "SubscribeToShard"))
      emulator.admin.putRecord("s", "k", "a".getBytes)
      val subscription = subscribe(calls, calls.registerConsumer("s", "c"), ShardIteratorType.TRIM_HORIZON)
      assert(subscription.take(1) == Vector("a"))
      subscription.awaitEnd() match {
        case Signal.Failed(e) => assert(Futures.unwrap(e).isInstanceOf[InternalFailureException], e)
        case other => fail(s"expected a failure, got $other")
      }
    }
  }

  test("faults send duplicate events and end a subscription") {
    onEmulator() { (emulator, calls) =>
      val consumer = calls.registerConsumer("s", "c")
      emulator.faults.add(FaultRule(FaultEffect.DuplicateEvents, "SubscribeToShard", count = 1))
      emulator.admin.putRecord("s", "k", "a".getBytes)
      val twice = subscribe(calls, consumer, ShardIteratorType.TRIM_HORIZON)
      assert(twice.take(2) == Vector("a", "a"))
      twice.cancel()
      emulator.admin.advanceClock(6000)
      emulator.faults.add(FaultRule(FaultEffect.EndAfter(0), "SubscribeToShard", count = 1))
      assert(subscribe(calls, consumer, ShardIteratorType.LATEST).awaitEnd() == Signal.Completed)
    }
  }

  test("the SDK's retries recover from a reset stream, GOAWAY and a cut connection") {
    onEmulator() { (emulator, calls) =>
      emulator.faults.add(FaultRule(FaultEffect.ResetStream, "PutRecord", count = 1))
      emulator.faults.add(FaultRule(FaultEffect.GoAway, "PutRecord", count = 1, skip = 1))
      emulator.faults.add(FaultRule(FaultEffect.Cut(done = false), "PutRecord", count = 1, skip = 2))
      (1 to 5).foreach(i => calls.put("s", "k", s"$i"))
      assert(
        emulator.admin.records("s").asJava.asScala.map(r => new String(r.data)).toVector ==
          Vector("1", "2", "3", "4", "5")
      )
      assert(emulator.calls.count("PutRecord", result = "reset") == 1L)
    }
  }
}
