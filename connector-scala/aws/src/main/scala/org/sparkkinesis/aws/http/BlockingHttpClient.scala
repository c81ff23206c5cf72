package org.sparkkinesis.aws.http

import java.io.ByteArrayInputStream

import software.amazon.awssdk.http._
import software.amazon.awssdk.http.async.SdkAsyncHttpClient
import software.amazon.awssdk.utils.AttributeMap

import org.sparkkinesis.network.Network

/**
 * The SDK's synchronous clients, those for credentials, over the HTTP client of all requests, so that they have the
 * same proxy, time limits and trusted authorities. Thread-safe.
 */
final private[aws] class BlockingHttpClient(http: SdkAsyncHttpClient, network: Network) extends SdkHttpClient {
  private val calls = new WholeCalls(http, network.requestTimeout, BlockingHttpClient.MaxBytes)

  override def clientName(): String = "SparkKinesis"
  override def close(): Unit = http.close()

  override def prepareRequest(request: HttpExecuteRequest): ExecutableHttpRequest = new ExecutableHttpRequest {
    @volatile private var running: WholeCalls#Running = null

    override def call(): HttpExecuteResponse = {
      val content = request.contentStreamProvider.map[Array[Byte]] { provider =>
        val in = provider.newStream()
        try in.readAllBytes()
        finally in.close()
      }.orElse(Array.emptyByteArray)
      running = calls.start(withLength(request.httpRequest, content.length), content)
      val answer = running.await()
      HttpExecuteResponse.builder().response(answer.head)
        .responseBody(AbortableInputStream.create(new ByteArrayInputStream(answer.content))).build()
    }

    override def abort(): Unit = Option(running).foreach(_.abort())
  }

  private def withLength(request: SdkHttpRequest, length: Int): SdkHttpRequest =
    if (length == 0 || request.firstMatchingHeader("Content-Length").isPresent) request
    else request.toBuilder.putHeader("Content-Length", length.toString).build()
}

private[aws] object BlockingHttpClient {

  /** Far more than any answer with credentials has. */
  private val MaxBytes = 1 << 20

  private val current = new ThreadLocal[Network]

  /** Runs `body`, in which the clients that the SDK creates by itself have these settings. */
  def within[A](network: Network)(body: => A): A = {
    val before = current.get
    current.set(network)
    try body
    finally current.set(before)
  }

  def of(network: Network): BlockingHttpClient = new BlockingHttpClient(HttpClients.forCredentials(network), network)

  /** Settings of clients that the SDK creates by itself: those of [[within]], else those without any option. */
  private[http] def ofThread: Network = Option(current.get).getOrElse(Network.Standard)
}

/**
 * Gives the SDK the HTTP client for the services that it calls by itself to get credentials: web identity, and IAM
 * Identity Center. The SDK finds it in `META-INF/services`.
 */
final class CredentialsHttpService extends SdkHttpService {
  override def createHttpClientBuilder(): SdkHttpClient.Builder[_] = new CredentialsHttpClientBuilder
}

final private class CredentialsHttpClientBuilder extends SdkHttpClient.Builder[CredentialsHttpClientBuilder] {
  override def buildWithDefaults(defaults: AttributeMap): SdkHttpClient =
    BlockingHttpClient.of(BlockingHttpClient.ofThread)
}
