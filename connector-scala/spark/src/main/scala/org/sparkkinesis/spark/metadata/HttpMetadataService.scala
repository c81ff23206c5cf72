package org.sparkkinesis.spark.metadata

import java.io.{ByteArrayOutputStream, IOException}
import java.net.http.HttpClient.Redirect
import java.net.http.HttpResponse.BodySubscriber
import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import java.net.{URI, URLEncoder}
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets
import java.time.Duration
import java.util.concurrent.{CompletableFuture, CompletionStage, ExecutionException, Flow, TimeUnit, TimeoutException}

import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.metadata._

/**
 * Asks a REST service: `GET <address>?id=a&id=b`, or `?pattern=…`. It follows no redirect, because the answer decides
 * where records come from and go to.
 *
 * @param token
 *   bearer token; never part of a message
 */
final private[metadata] class HttpMetadataService(uri: URI, token: Option[String]) extends StreamMetadataService {
  import HttpMetadataService._

  private val client = HttpClient.newBuilder().connectTimeout(Timeout).followRedirects(Redirect.NEVER).build()

  /** The query of an address may have a token. */
  override def address: String = s"${uri.getScheme}://${uri.getRawAuthority}${uri.getRawPath}"

  override def fetch(ids: StreamIds, known: Option[Tag]): MetadataAnswer = {
    val response = send(ids, request(ids, known))
    response.statusCode match {
      case 200 =>
        val tag = response.headers.firstValue("ETag").map[Option[Tag]](text => Some(Tag(text))).orElse(None)
        Documents.answer(ids, this, response.body, known, tag)
      case 304 if known.nonEmpty => MetadataAnswer.Unchanged
      case 404 => throw Documents.unavailable(ids, this, "The service knows none of the ids (status 404).")
      case status if status >= 300 && status < 400 =>
        throw Documents.unavailable(ids, this, s"The service redirects (status $status), which is not followed.")
      case status => throw Documents.unavailable(ids, this, s"The service answered with status $status.")
    }
  }

  /** The client ends with the last reference to it. */
  override def close(): Unit = ()

  private def request(ids: StreamIds, known: Option[Tag]): HttpRequest = {
    val asked = ids match {
      case StreamIds.Named(names) => names.toSeq.sorted.map(id => s"id=${encoded(id)}")
      case StreamIds.Matching(pattern) => Seq(s"pattern=${encoded(pattern.pattern)}")
    }
    val query = (Option(uri.getRawQuery).toSeq ++ asked).mkString("&")
    val path = Option(uri.getRawPath).filter(_.nonEmpty).getOrElse("/")
    val request = HttpRequest.newBuilder(URI.create(s"${uri.getScheme}://${uri.getRawAuthority}$path?$query"))
      .timeout(Timeout).header("Accept", "application/json")
    token.foreach(value => request.header("Authorization", s"Bearer $value"))
    known.foreach(tag => request.header("If-None-Match", tag.value))
    request.GET().build()
  }

  private def send(ids: StreamIds, request: HttpRequest): HttpResponse[Array[Byte]] = {
    val answer = client.sendAsync(request, (_: HttpResponse.ResponseInfo) => new LimitedBody)
    try answer.get(Timeout.toMillis, TimeUnit.MILLISECONDS)
    catch {
      case _: TimeoutException =>
        throw Documents.unavailable(ids, this, s"There was no complete answer within ${Timeout.toSeconds} seconds.")
      case failed: ExecutionException =>
        val failure = Futures.unwrap(failed)
        throw Documents.unavailable(ids, this, s"The request failed: $failure.").causedBy(failure)
    } finally {
      // Ends the exchange of a request that timed out or was interrupted.
      answer.cancel(true)
      ()
    }
  }
}

private object HttpMetadataService {
  private val Timeout = Duration.ofSeconds(10)

  private def encoded(text: String): String = URLEncoder.encode(text, StandardCharsets.UTF_8)

  /** Collects a body up to the maximum size of a document. */
  final private class LimitedBody extends BodySubscriber[Array[Byte]] {
    private val bytes = new ByteArrayOutputStream
    private val done = new CompletableFuture[Array[Byte]]
    private var subscription: Flow.Subscription = _

    override def getBody: CompletionStage[Array[Byte]] = done

    override def onSubscribe(started: Flow.Subscription): Unit = {
      subscription = started
      started.request(Long.MaxValue)
    }

    override def onNext(parts: java.util.List[ByteBuffer]): Unit = {
      parts.forEach { part =>
        val chunk = new Array[Byte](part.remaining)
        part.get(chunk)
        bytes.write(chunk, 0, chunk.length)
      }
      if (bytes.size > DocumentParser.MaxBytes) {
        subscription.cancel()
        done.completeExceptionally(
          new IOException(s"the answer is longer than the accepted ${DocumentParser.MaxBytes} bytes")
        )
        ()
      }
    }

    override def onError(failure: Throwable): Unit = {
      done.completeExceptionally(failure)
      ()
    }

    override def onComplete(): Unit = {
      done.complete(bytes.toByteArray)
      ()
    }
  }
}
