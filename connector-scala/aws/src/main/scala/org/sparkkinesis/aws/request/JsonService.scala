package org.sparkkinesis.aws.request

import java.net.URI
import java.util.concurrent.CompletableFuture

import scala.concurrent.duration.FiniteDuration

import org.sparkkinesis.aws.transport.HttpTransport
import org.sparkkinesis.service.Operation

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
 * @param identity
 *   this instance closes its credentials
 * @param timeout
 *   maximum time of a call
 * @param caller
 *   the `User-Agent`
 */
final class JsonService private[aws] (
    service: String,
    version: String,
    region: String,
    endpoint: () => URI,
    identity: CallerIdentity,
    transport: HttpTransport,
    timeout: FiniteDuration,
    caller: String
) extends AutoCloseable {
  private val requests =
    new SignedCalls(service, region, transport, identity.credentials, identity.clock, timeout, caller)
  private val calls = new ServiceCalls(identity)

  /**
   * Makes a call. `cancel` ends it; the future is done when the service can receive nothing more of it, and fails only
   * with [[org.sparkkinesis.service.ServiceException]].
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
    identity.credentials.close()
  }
}
