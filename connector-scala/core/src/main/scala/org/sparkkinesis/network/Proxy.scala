package org.sparkkinesis.network

import java.net.URLDecoder
import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Try

/**
 * An HTTP proxy. `toString` hides user name and password.
 *
 * @param secure
 *   whether the connection to the proxy itself uses TLS
 * @param user
 *   user name for Basic authentication
 */
final case class Proxy(host: String, port: Int, secure: Boolean, user: Option[String], password: Option[String]) {

  /** Whether both sides name the same proxy, whatever the user is. */
  def isAt(other: Proxy): Boolean = host == other.host && port == other.port && secure == other.secure

  override def toString: String =
    s"${if (secure) "https" else "http"}://${user.fold("")(_ => "redacted@")}${Hosts.inUrl(host)}:$port"
}

object Proxy {

  // A password may contain '@' and other characters that a URL must encode.
  private val Form =
    """(?:([A-Za-z][A-Za-z0-9+.-]*)://)?(?:(.*)@)?(\[[0-9A-Fa-f:.%]+]|[^\s:/?#@\[\]]+)(?::(\d{1,5}))?/?""".r

  /**
   * Reads `[http[s]://][user[:password]@]host[:port]`.
   *
   * @return
   *   the proxy, or a sentence that says what is wrong without repeating the text, which may contain a password
   */
  def parse(text: String): Either[String, Proxy] = text.trim match {
    case Form(scheme, userInfo, host, port) =>
      val secure = "https".equalsIgnoreCase(scheme)
      if (scheme != null && !secure && !"http".equalsIgnoreCase(scheme))
        Left(s"It has the scheme '$scheme', but the connector supports HTTP proxies only.")
      else {
        val number = Option(port).fold(if (secure) 443 else 80)(_.toInt)
        val (user, password) = Option(userInfo).fold((Option.empty[String], Option.empty[String])) { both =>
          val parts = both.split(":", 2)
          (parts.headOption.map(decoded), parts.lift(1).map(decoded))
        }
        if (number < 1 || number > 65535) Left("Its port is not a number from 1 to 65535.")
        else Right(Proxy(Hosts.bare(host), number, secure, user.filter(_.nonEmpty), password))
      }
    case _ => Left("It is not of the form http://host:port.")
  }

  /** A plus sign is itself in the user part of a URL. */
  private def decoded(text: String): String = Try(URLDecoder.decode(text.replace("+", "%2B"), UTF_8)).getOrElse(text)
}
