package org.sparkkinesis.aws.request

import java.net.URI
import java.util.concurrent.CompletableFuture

import scala.concurrent.duration.FiniteDuration

import software.amazon.awssdk.identity.spi.{AwsCredentialsIdentity, IdentityProvider}

import org.sparkkinesis.aws.transport.HttpTransport
import org.sparkkinesis.service.{Operation, ServiceException}

/**
 * Calls a service with the JSON 1.1 protocol, for services whose SDK client is not in the jar. Calls are not retried.
 * Thread-safe.
 *
 * @param version
 *   version of the API, which is a part of each request's target
 * @param endpoint
 *   returns the address of the service, or fails the call
 * @param transport
 *   this instance owns it
 * @param timeout
 *   maximum time of a call
 * @param mayRenew
 *   whether a call that failed with this error may succeed with other credentials or another time
 */
final class JsonService private[aws] (
    service: String,
    version: String,
    region: String,
    endpoint: () => URI,
    credentials: IdentityProvider[AwsCredentialsIdentity] with AutoCloseable,
    transport: HttpTransport,
    clock: SigningClock,
    timeout: FiniteDuration,
    mayRenew: ServiceException => Boolean
) extends AutoCloseable {
  private val requests = new SignedCalls(service, region, transport, credentials, clock, timeout)
  private val calls = new ServiceCalls(mayRenew)

  /**
   * Makes a call. `cancel` ends it; the future is done when the service can receive nothing more of it, and fails only
   * with [[ServiceException]].
   *
   * @param convert
   *   reads the body of a successful answer
   */
  def call[A](operation: Operation, body: Array[Byte])(convert: Array[Byte] => A): CompletableFuture[A] =
    calls.abortable(operation) {
      val reader = new CollectedAnswer(operation)
      requests.make(endpoint(), s"$version.${operation.name}", RequestContent.json(body), reader)
    }(answer => convert(answer.content))

  override def close(): Unit = {
    transport.close()
    credentials.close()
  }
}
