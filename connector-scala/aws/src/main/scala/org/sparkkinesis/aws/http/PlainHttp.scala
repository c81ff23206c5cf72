package org.sparkkinesis.aws.http

import java.io.IOException
import java.net.URI

import scala.concurrent.duration.FiniteDuration

import software.amazon.awssdk.http.{SdkHttpMethod, SdkHttpRequest}

import org.sparkkinesis.network.Network

/** A response of a service that is not one of AWS. */
final class PlainAnswer private[http] (whole: WholeResponse) {
  def status: Int = whole.head.statusCode
  def body: Array[Byte] = whole.content
  def header(name: String): Option[String] = Option(whole.head.firstMatchingHeader(name).orElse(null))
}

/**
 * Unsigned requests to services that are not of AWS, with the proxy, connection timeout and trusted authorities of all
 * calls. It follows no redirection and repeats no request. The caller closes it. Thread-safe.
 *
 * @param timeout
 *   maximum time of a request
 * @param maxBytes
 *   maximum size of a response
 */
final class PlainHttp(network: Network, timeout: FiniteDuration, maxBytes: Int) extends AutoCloseable {
  private val http = HttpClients.forRequests(network.copy(requestTimeout = timeout))
  private val calls = new WholeCalls(http, timeout, maxBytes)

  /**
   * Sends a request and waits for the response.
   *
   * @throws java.net.SocketTimeoutException
   *   if the response is not complete in time
   * @throws java.io.IOException
   *   if there is no complete response, or it is too long
   */
  @throws[IOException]
  def get(address: URI, headers: Seq[(String, String)]): PlainAnswer = {
    val request = SdkHttpRequest.builder().method(SdkHttpMethod.GET).uri(address)
    headers.foreach { case (name, value) => request.putHeader(name, value) }
    new PlainAnswer(calls.start(request.build(), Array.emptyByteArray).await())
  }

  override def close(): Unit = http.close()
}
