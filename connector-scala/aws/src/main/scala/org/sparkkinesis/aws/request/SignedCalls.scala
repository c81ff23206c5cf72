package org.sparkkinesis.aws.request

import java.net.URI
import java.util.concurrent.{CompletableFuture, TimeUnit, TimeoutException}

import scala.concurrent.duration.FiniteDuration

import software.amazon.awssdk.identity.spi.{AwsCredentialsIdentity, IdentityProvider}

import org.sparkkinesis.aws.http.HttpExchange
import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.service.Operation

/**
 * Makes calls that have one request and one answer. They are not retried. Thread-safe.
 *
 * @param credentials
 *   not owned
 * @param timeout
 *   maximum time of a call, including the time to get credentials
 */
final private[aws] class SignedCalls(
    requests: SignedRequests,
    credentials: IdentityProvider[AwsCredentialsIdentity],
    timeout: FiniteDuration
) {

  /**
   * Makes a call.
   *
   * @param target
   *   version of the API and operation
   * @param exchange
   *   the exchange that ends the call; whoever gives the call up must end it
   */
  def make(
      operation: Operation,
      endpoint: URI,
      target: String,
      content: RequestContent,
      exchange: HttpExchange
  ): CompletableFuture[ServiceAnswer] = {
    val answer = new CollectedAnswer(operation)
    credentials.resolveIdentity().thenCompose[ServiceAnswer] { identity =>
      requests.send(identity, endpoint, target, content, answer, Some(exchange))
        .whenComplete((_, error) => if (error != null) answer.fail(error))
      answer.result
    }.orTimeout(timeout.toNanos, TimeUnit.NANOSECONDS)
      .exceptionallyCompose(error => CompletableFuture.failedFuture[ServiceAnswer](explained(Futures.unwrap(error))))
  }

  private def explained(error: Throwable): Throwable = error match {
    case late: TimeoutException if late.getMessage == null =>
      new TimeoutException(s"There was no complete response within $timeout")
    case other => other
  }
}
