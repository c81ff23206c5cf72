package org.sparkkinesis.emulator.wire.page

import java.nio.charset.StandardCharsets.UTF_8
import java.security.{MessageDigest, SecureRandom}
import java.util.{Base64, Locale}

import org.sparkkinesis.emulator.wire.http.Exchange

/** The parts of a request that decide whether a page answers it; null where a header is missing. */
final private[page] case class PageRequest(
    method: String,
    path: String,
    query: String = "",
    host: String = null,
    origin: String = null,
    contentType: String = null,
    authorization: String = null
)

private[page] object PageRequest {
  def of(exchange: Exchange): PageRequest = PageRequest(
    exchange.method.name,
    exchange.path,
    exchange.query,
    exchange.header("Host"),
    exchange.header("Origin"),
    exchange.header("Content-Type"),
    exchange.header("Authorization")
  )
}

/** The answer to a request that a page does not serve. */
final private[page] case class PageRefusal(status: Int, message: String)

/**
 * Decides which requests the pages answer. Websites in a browser on this machine must not be able to use them. So a
 * request to an emulator on the loopback interface must name a loopback host, which excludes foreign domain names that
 * resolve to this machine; no request may come from another origin; and a POST must be JSON, which browsers do not send
 * to other sites.
 *
 * @param token
 *   the secret that each request must carry, as `Authorization: Bearer TOKEN` or, for the status page, as
 *   `?token=TOKEN`; without it no secret is needed
 * @param isLocal
 *   whether the emulator listens on the loopback interface; otherwise clients may name it in any way, and need the
 *   token
 */
final class PageAccess(token: Option[String], isLocal: Boolean = true) {
  import PageAccess._

  private[page] def refusal(request: PageRequest): Option[PageRefusal] =
    if (isLocal && !isLoopback(request.host))
      Some(PageRefusal(403, s"The Host header must be localhost, 127.0.0.1 or [::1], but was ${request.host}."))
    else if (!isSameOrigin(request))
      Some(PageRefusal(403, s"Requests from the origin ${request.origin} are not allowed."))
    else if (!token.forall(isGivenIn(request, _)))
      Some(PageRefusal(403, "The request must carry the emulator's admin token: Authorization: Bearer TOKEN."))
    else if (request.method == "POST" && !isJson(request.contentType))
      Some(PageRefusal(415, "The Content-Type of a POST must be application/json."))
    else None

  private def isLoopback(host: String): Boolean =
    host != null && Loopback.contains(host.replaceFirst(":\\d+$", "").toLowerCase(Locale.ROOT))

  private def isSameOrigin(request: PageRequest): Boolean = request.origin == null ||
    Seq("http", "https").exists(scheme => request.origin.equalsIgnoreCase(s"$scheme://${request.host}"))

  private def isJson(contentType: String): Boolean =
    contentType != null && contentType.takeWhile(_ != ';').trim.equalsIgnoreCase("application/json")

  private def isGivenIn(request: PageRequest, secret: String): Boolean = {
    val inHeader = Option(request.authorization).collect { case Bearer(given) => given }
    val inQuery = Option.when(request.path == "/")(request.query.split('&').toSeq).toSeq.flatten
      .collect { case TokenParameter(given) => given }
    (inHeader ++ inQuery).exists(given => MessageDigest.isEqual(given.getBytes(UTF_8), secret.getBytes(UTF_8)))
  }
}

object PageAccess {
  private val Loopback = Set("localhost", "127.0.0.1", "[::1]")
  private val Bearer = "(?i:bearer) +(\\S+)".r
  private val TokenParameter = "token=(.*)".r
  private val TokenBytes = 24

  /** Creates a random token of URL-safe characters. */
  def newToken(): String = {
    val bytes = new Array[Byte](TokenBytes)
    new SecureRandom().nextBytes(bytes)
    Base64.getUrlEncoder.withoutPadding.encodeToString(bytes)
  }
}
