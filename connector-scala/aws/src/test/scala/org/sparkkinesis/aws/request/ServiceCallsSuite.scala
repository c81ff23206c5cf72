package org.sparkkinesis.aws.request

import java.util.concurrent.{CompletableFuture, ExecutionException, TimeUnit}

import org.sparkkinesis.aws.client.{CredentialSettings, TestIdentity}
import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException}
import org.sparkkinesis.suite.TimedSuite

class ServiceCallsSuite extends TimedSuite {
  private val calls = new ServiceCalls(TestIdentity.of(CredentialSettings.Static("id", "secret", None)))

  private def failureOf(call: CompletableFuture[_]): ServiceException =
    intercept[ExecutionException](call.get(10, TimeUnit.SECONDS)).getCause match {
      case known: ServiceException => known
      case other => fail(s"not classified: $other", other)
    }

  test("an error of the JVM while an answer is read fails the call, so that nobody waits for it") {
    val answer = new CompletableFuture[String]
    val call = calls.call(Operation.ListShards)(answer)(_ => throw new NoClassDefFoundError("Decoder"))
    answer.complete("shards")
    val failure = failureOf(call)
    assert(failure.kind == ServiceErrorKind.Client)
    assert(failure.getCause.isInstanceOf[NoClassDefFoundError])
  }

  test("an error of the JVM while a call begins is thrown to its caller, as one of any code") {
    intercept[NoClassDefFoundError](
      calls.call[String, String](Operation.ListShards)(throw new NoClassDefFoundError("Encoder"))(identity)
    )
  }

  test("an exception while an answer is read fails the call") {
    val call = calls.call(Operation.ListShards)(CompletableFuture.completedFuture("x"))(_.toInt)
    assert(failureOf(call).getCause.isInstanceOf[NumberFormatException])
  }
}
