package org.sparkkinesis.aws.request

import java.time.{Clock, Duration}
import java.util.concurrent.CompletableFuture

import scala.util.Using

import org.sparkkinesis.aws.client.{CredentialSettings, SdkClients, SdkKinesisService, WithEmulator}
import org.sparkkinesis.concurrent.SystemScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.fanout.StreamConsumerRegistrar
import org.sparkkinesis.emulator.EmulatorConfig
import org.sparkkinesis.emulator.wire.auth.EmulatorCredential
import org.sparkkinesis.event.EventSink
import org.sparkkinesis.model.{ShardId, StartingPosition, StreamRef}
import org.sparkkinesis.retry.{RetryPolicies, RetryRules}
import org.sparkkinesis.service.{
  PutEntry, PutResult, ServiceErrorKind, ServiceException, ShardSubscriber, SubscribeToShardEvent
}

/** PutRecords and SubscribeToShard, which the SDK's client does not send, to an emulator that checks signatures. */
class RequestsWithEmulatorSuite
    extends WithEmulator(EmulatorConfig(
      quotas = false,
      credentials = Seq(EmulatorCredential("AKIDEXAMPLE", "secret", "123456789012"))
    )) {
  private def arnOf(stream: String): String = emulator.admin.createStream(stream, 1)

  private def isStored(by: SdkKinesisService, stream: StreamRef): Boolean =
    await(by.putRecords(stream, IndexedSeq(PutEntry("key", None, Array[Byte](1, 2))))).forall {
      case _: PutResult.Accepted => true
      case _ => false
    }

  private def consumerOf(streamArn: String): String = Using.resource(new SystemScheduler("register", 1)) { scheduler =>
    await(new StreamConsumerRegistrar(
      service,
      scheduler,
      RetryPolicies.of(Options.defaults),
      RetryRules.Default
    ).ensure(streamArn, "reader"))
  }

  private class Begun extends ShardSubscriber {
    val error = new CompletableFuture[Option[ServiceErrorKind]]
    private def is(found: Option[ServiceErrorKind]): Unit = {
      error.complete(found)
      ()
    }
    override def onSubscribed(): Unit = is(None)
    override def onEvent(event: SubscribeToShardEvent): Unit = ()
    override def onError(failure: ServiceException): Unit = is(Some(failure.kind))
    override def onComplete(): Unit = is(None)
  }

  /** Returns the kind of the error, or nothing if the subscription begins. */
  private def subscribed(by: SdkKinesisService, consumerArn: String): Option[ServiceErrorKind] = {
    val begun = new Begun
    val call = by.subscribeToShard(consumerArn, ShardId.ofIndex(0), StartingPosition.TrimHorizon, begun)
    try await(begun.error)
    finally call.cancel()
  }

  private def withClock(difference: Duration)(body: SdkKinesisService => Unit): Unit =
    Using.resource(SdkClients.create(
      settings,
      EventSink.Discard,
      Clock.offset(Clock.systemUTC, difference),
      () => System.nanoTime
    ))(body)

  Seq(Duration.ofHours(1), Duration.ofHours(-1)).foreach { difference =>
    test(s"records are stored by a machine whose clock differs by $difference") {
      val stream = StreamRef.parse(arnOf(s"late$difference")).get
      withClock(difference)(late => assert((1 to 2).forall(_ => isStored(late, stream))))
      assert(emulator.admin.records(stream.name).size == 2)
    }
  }

  test("a subscription of a machine with a wrong clock fails once, as a temporary failure") {
    val consumer = consumerOf(arnOf("late-reader"))
    withClock(Duration.ofHours(1)) { late =>
      assert((1 to 2).map(_ => subscribed(late, consumer)) == Seq(Some(ServiceErrorKind.StaleIdentity), None))
    }
  }

  test("a wrong secret fails, and the error does not contain it") {
    val wrong = settings.copy(credentials = CredentialSettings.Static("AKIDEXAMPLE", "wrong-secret", None))
    Using.resource(SdkClients.create(wrong)) { other =>
      val refused = failure(other.putRecords(ref("any"), IndexedSeq(PutEntry("key", None, Array[Byte](1)))))
      assert(refused.kind == ServiceErrorKind.AccessDenied)
      assert(!refused.getMessage.contains("wrong-secret"))
    }
  }

  Seq("aws.endpointUrlKinesis", "aws.endpointUrl").foreach { property =>
    test(s"records go to the endpoint of $property, by name and by ARN, and subscriptions begin there") {
      val name = property.filter(_.isLetter)
      val arn = arnOf(name)
      val consumer = consumerOf(arn)
      System.setProperty(property, emulator.endpoint)
      val other =
        try SdkClients.create(settings.copy(endpoint = None))
        finally System.clearProperty(property)
      Using.resource(other) { found =>
        assert(Seq(ref(name), StreamRef.parse(arn).get).forall(isStored(found, _)))
        assert(subscribed(found, consumer).isEmpty)
      }
      assert(emulator.admin.records(name).size == 2)
    }
  }
}
