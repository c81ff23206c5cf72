package org.sparkkinesis.aws.request

import java.net.URI
import java.time.Clock
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{CompletableFuture, ExecutionException, TimeUnit, TimeoutException}

import scala.concurrent.duration._

import software.amazon.awssdk.auth.credentials.AwsBasicCredentials
import software.amazon.awssdk.http.async.{AsyncExecuteRequest, SdkAsyncHttpClient}
import software.amazon.awssdk.identity.spi.{AwsCredentialsIdentity, IdentityProvider, ResolveIdentityRequest}

import org.sparkkinesis.aws.http.{HttpExchange, ObservedHttpClient}
import org.sparkkinesis.service.Operation
import org.sparkkinesis.suite.TimedSuite

class SignedCallsSuite extends TimedSuite {

  /** An HTTP client without a time limit, whose requests are never answered. */
  private class Silent extends SdkAsyncHttpClient {
    val sent = new AtomicInteger
    val running = new CompletableFuture[Void]
    override def execute(request: AsyncExecuteRequest): CompletableFuture[Void] = {
      sent.incrementAndGet()
      running
    }
    override def close(): Unit = ()
  }

  private class Rig(timeout: FiniteDuration, identity: CompletableFuture[AwsCredentialsIdentity]) {
    val http = new Silent
    val exchange = new HttpExchange
    private val credentials = new IdentityProvider[AwsCredentialsIdentity] {
      override def identityType: Class[AwsCredentialsIdentity] = classOf[AwsCredentialsIdentity]
      override def resolveIdentity(request: ResolveIdentityRequest): CompletableFuture[AwsCredentialsIdentity] =
        identity
    }
    private val requests =
      new SignedRequests("any", "us-east-1", new ObservedHttpClient(http), new SigningClock(Clock.systemUTC))

    val call: CompletableFuture[ServiceAnswer] = new SignedCalls(requests, credentials, timeout).make(
      Operation.PutRecordBatch,
      URI.create("http://localhost"),
      "any.PutRecordBatch",
      RequestContent.json("{}".getBytes),
      exchange
    )

    def failure: Throwable = intercept[ExecutionException](call.get(60, TimeUnit.SECONDS)).getCause
  }

  private def known: CompletableFuture[AwsCredentialsIdentity] =
    CompletableFuture.completedFuture(AwsBasicCredentials.create("AKIDEXAMPLE", "secret"))

  test("a call without an answer ends after the time limit, and says so") {
    val rig = new Rig(50.millis, known)
    rig.failure match {
      case late: TimeoutException => assert(late.getMessage == "There was no complete response within 50 milliseconds")
      case other => fail(s"not a timeout: $other", other)
    }
    assert(rig.http.sent.get == 1)
    assert(!rig.http.running.isDone)
    rig.exchange.end()
    assert(rig.http.running.isCancelled)
  }

  test("the time limit includes the credentials, and a request whose call is over is not sent when they are there") {
    val identity = new CompletableFuture[AwsCredentialsIdentity]
    val rig = new Rig(50.millis, identity)
    assert(rig.failure.isInstanceOf[TimeoutException])
    rig.exchange.end()
    identity.complete(AwsBasicCredentials.create("AKIDEXAMPLE", "secret"))
    assert(rig.http.sent.get == 0)
  }

  test("a call fails with the error of the HTTP client, or with that of the credentials") {
    val lost = new Rig(1.minute, known)
    lost.http.running.completeExceptionally(new java.io.IOException("Connection reset"))
    assert(lost.failure.getMessage == "Connection reset")
    val unknown = new Rig(1.minute, CompletableFuture.failedFuture(new IllegalStateException("no credentials")))
    assert(unknown.failure.getMessage == "no credentials")
    assert(unknown.http.sent.get == 0)
  }
}
