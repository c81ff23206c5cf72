package org.sparkkinesis.spark.metadata

import java.io.IOException
import java.net.{SocketTimeoutException, URI, URLEncoder}
import java.nio.charset.StandardCharsets

import scala.concurrent.duration._

import org.sparkkinesis.aws.http.{PlainAnswer, PlainHttp}
import org.sparkkinesis.metadata._
import org.sparkkinesis.network.Network

/**
 * Asks a REST service: `GET <address>?id=a&id=b`, or `?pattern=…`. It follows no redirect, because the answer decides
 * where records come from and go to.
 *
 * @param token
 *   bearer token; never part of a message
 */
final private[metadata] class HttpMetadataService(uri: URI, token: Option[String], network: Network)
    extends StreamMetadataService {
  import HttpMetadataService._

  private val http = new PlainHttp(network, Timeout, DocumentParser.MaxBytes)

  /** The query of an address may have a token. */
  override def address: String = s"${uri.getScheme}://${uri.getRawAuthority}${uri.getRawPath}"

  override def fetch(ids: StreamIds, known: Option[Tag]): MetadataAnswer = {
    val response = send(ids, addressOf(ids), headers(known))
    response.status match {
      case 200 => Documents.answer(ids, this, response.body, known, response.header("ETag").map(Tag(_)))
      case 304 if known.nonEmpty => MetadataAnswer.Unchanged
      case 404 => throw Documents.unavailable(ids, this, "The service knows none of the ids (status 404).")
      case status if status >= 300 && status < 400 =>
        throw Documents.unavailable(ids, this, s"The service redirects (status $status), which is not followed.")
      case status => throw Documents.unavailable(ids, this, s"The service answered with status $status.")
    }
  }

  override def close(): Unit = http.close()

  private def addressOf(ids: StreamIds): URI = {
    val asked = ids match {
      case StreamIds.Named(names) => names.toSeq.sorted.map(id => s"id=${encoded(id)}")
      case StreamIds.Matching(pattern) => Seq(s"pattern=${encoded(pattern.pattern)}")
    }
    val query = (Option(uri.getRawQuery).toSeq ++ asked).mkString("&")
    val path = Option(uri.getRawPath).filter(_.nonEmpty).getOrElse("/")
    URI.create(s"${uri.getScheme}://${uri.getRawAuthority}$path?$query")
  }

  private def headers(known: Option[Tag]): Seq[(String, String)] = Seq("Accept" -> "application/json") ++
    token.map(value => "Authorization" -> s"Bearer $value") ++ known.map(tag => "If-None-Match" -> tag.value)

  private def send(ids: StreamIds, to: URI, headers: Seq[(String, String)]): PlainAnswer =
    try http.get(to, headers)
    catch {
      case _: SocketTimeoutException =>
        throw Documents.unavailable(ids, this, s"There was no complete answer within $Timeout.")
      case failure: IOException =>
        throw Documents.unavailable(ids, this, s"The request failed: $failure.").causedBy(failure)
    }
}

private object HttpMetadataService {
  private val Timeout = 10.seconds

  private def encoded(text: String): String = URLEncoder.encode(text, StandardCharsets.UTF_8)
}
