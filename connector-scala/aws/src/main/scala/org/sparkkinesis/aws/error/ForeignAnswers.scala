package org.sparkkinesis.aws.error

import java.net.URI

import scala.jdk.OptionConverters._
import scala.util.Try

import software.amazon.awssdk.core.interceptor.{Context, ExecutionAttributes, ExecutionInterceptor}
import software.amazon.awssdk.http.{SdkHttpHeaders, SdkHttpResponse}

/** Another server than the service has answered. The message says how. */
final class ForeignAnswerException(val status: Int, message: String) extends RuntimeException(message)

/**
 * Recognizes answers that the service never gives: redirects, pages, and content in another encoding than that of the
 * request. Who gives them gives them again, so a call with such an answer is not repeated.
 */
object ForeignAnswers {

  /** Returns the failure if `response` is a redirect or a page. */
  def in(response: SdkHttpResponse): Option[ForeignAnswerException] = in(response.statusCode, header(response, _))

  /** @param header finds the value of a header */
  def in(status: Int, header: String => Option[String]): Option[ForeignAnswerException] = {
    val kind = typeOf(header)
    if (status / 100 == 3) {
      val target = header("Location").flatMap(place).fold("")(to => s" to $to")
      Some(new ForeignAnswerException(
        status,
        s"The endpoint redirects$target with HTTP $status, as Kinesis never does"
      ))
    } else Option.when(status / 100 == 2 && kind.startsWith("text/"))(ofType(status, kind))
  }

  /** The failure of a successful answer whose content has this type, which the service does not use. */
  def ofType(status: Int, contentType: String): ForeignAnswerException =
    new ForeignAnswerException(status, s"The content of the answer has the type '$contentType', as never from Kinesis")

  /** Whether a content type is one of JSON. */
  def isJson(contentType: String): Boolean =
    contentType.startsWith("application/x-amz-json") || contentType.startsWith("application/json")

  def isCbor(contentType: String): Boolean = contentType.startsWith("application/x-amz-cbor")

  /**
   * Adds the reason to the failure of a call of the SDK's client, which reports an answer that it cannot decode as a
   * failed connection. The SDK permits no exception of another class.
   */
  object Interceptor extends ExecutionInterceptor {
    override def modifyException(context: Context.FailedExecution, attributes: ExecutionAttributes): Throwable = {
      val foreign = for {
        request <- context.httpRequest.toScala
        response <- context.httpResponse.toScala
        found <- in(response).orElse(Option.when(
          response.isSuccessful && isCbor(header(request, "Content-Type").getOrElse("")) &&
            isJson(typeOf(header(response, _)))
        )(ofType(response.statusCode, typeOf(header(response, _)))))
      } yield found
      foreign.foreach(context.exception.addSuppressed)
      context.exception
    }
  }

  /** The address without user, path and query, which may have secrets. */
  private def place(location: String): Option[String] = Try(URI.create(location)).toOption.filter(_.getHost != null)
    .map(uri => s"${uri.getScheme}://${uri.getHost}${if (uri.getPort < 0) "" else s":${uri.getPort}"}")

  private def typeOf(header: String => Option[String]): String =
    header("Content-Type").fold("")(_.takeWhile(_ != ';').trim.toLowerCase)

  private def header(message: SdkHttpHeaders, name: String): Option[String] =
    message.firstMatchingHeader(name).toScala
}
