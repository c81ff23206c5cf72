package org.sparkkinesis.aws.request

import java.net.URI
import java.time.Clock
import java.util.concurrent.{CancellationException, CompletableFuture, ExecutionException, TimeUnit, TimeoutException}

import scala.concurrent.duration._

import org.scalatest.BeforeAndAfterAll
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials
import software.amazon.awssdk.identity.spi.{AwsCredentialsIdentity, IdentityProvider, ResolveIdentityRequest}

import org.sparkkinesis.aws.client.SilentServer
import org.sparkkinesis.aws.error.UnsentCall
import org.sparkkinesis.aws.http.HttpClients
import org.sparkkinesis.network.Network
import org.sparkkinesis.service.Operation
import org.sparkkinesis.suite.TimedSuite

class SignedCallsSuite extends TimedSuite with BeforeAndAfterAll {
  private val server = new SilentServer
  private val transport = HttpClients.transport(Network.Standard)

  override def afterAll(): Unit = {
    transport.close()
    server.close()
  }

  private class Rig(timeout: FiniteDuration, identity: CompletableFuture[AwsCredentialsIdentity]) {
    private val credentials = new IdentityProvider[AwsCredentialsIdentity] {
      override def identityType: Class[AwsCredentialsIdentity] = classOf[AwsCredentialsIdentity]
      override def resolveIdentity(request: ResolveIdentityRequest): CompletableFuture[AwsCredentialsIdentity] =
        identity
    }
    private val calls =
      new SignedCalls("any", "us-east-1", transport, credentials, new SigningClock(Clock.systemUTC), timeout, "test")

    val call: CompletableFuture[ServiceAnswer] = calls.make(
      URI.create(s"http://127.0.0.1:${server.port}"),
      "any.PutRecordBatch",
      RequestContent.json("{}".getBytes),
      new CollectedAnswer(Operation.PutRecordBatch)
    )

    def failure: Throwable = intercept[ExecutionException](call.get(60, TimeUnit.SECONDS)).getCause

    /** The failure of a call that was not sent. */
    def unsent: Throwable = failure.asInstanceOf[UnsentCall].reason
  }

  private def known: CompletableFuture[AwsCredentialsIdentity] =
    CompletableFuture.completedFuture(AwsBasicCredentials.create("AKIDEXAMPLE", "secret"))

  test("the time limit includes the credentials, and a request whose call is over is not sent when they are there") {
    val identity = new CompletableFuture[AwsCredentialsIdentity]
    val rig = new Rig(50.millis, identity)
    rig.unsent match {
      case late: TimeoutException => assert(late.getMessage == "There were no credentials within 50 milliseconds")
      case other => fail(s"not a timeout: $other", other)
    }
    identity.complete(AwsBasicCredentials.create("AKIDEXAMPLE", "secret"))
    assert(!server.asked.isDone)
  }

  test("a call that is cancelled while it waits for credentials is not sent, and ends") {
    val identity = new CompletableFuture[AwsCredentialsIdentity]
    val rig = new Rig(1.minute, identity)
    assert(!rig.call.cancel(true))
    assert(rig.failure.isInstanceOf[CancellationException])
    assert(!identity.isDone)
    identity.complete(AwsBasicCredentials.create("AKIDEXAMPLE", "secret"))
    assert(!server.asked.isDone)
  }

  test("a call fails with the error of the credentials") {
    val unknown = new Rig(1.minute, CompletableFuture.failedFuture(new IllegalStateException("no credentials")))
    assert(unknown.unsent.getMessage == "no credentials")
    assert(!server.asked.isDone)
  }

  test("a call without an answer ends after the time limit, also if its credentials came late, and says so") {
    val later = new CompletableFuture[AwsCredentialsIdentity]
    val rigs = Seq(new Rig(2.seconds, known), new Rig(2.seconds, later))
    later.complete(AwsBasicCredentials.create("AKIDEXAMPLE", "secret"))
    rigs.foreach { rig =>
      rig.failure match {
        case late: TimeoutException => assert(late.getMessage == "There was no response within 2 seconds")
        case other => fail(s"not a timeout: $other", other)
      }
    }
    server.hungUp.get(60, TimeUnit.SECONDS)
  }
}
