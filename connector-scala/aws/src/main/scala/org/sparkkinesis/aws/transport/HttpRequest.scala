package org.sparkkinesis.aws.transport

import java.net.URI
import java.nio.charset.StandardCharsets.ISO_8859_1

/**
 * The host that a request is for.
 *
 * @param secure
 *   whether it speaks TLS
 */
final private[aws] case class Target(secure: Boolean, host: String, port: Int) {

  /** The value of the `Host` header. */
  val authority: String = {
    val name = if (host.contains(':')) s"[$host]" else host
    if (port == (if (secure) 443 else 80)) name else s"$name:$port"
  }

  def uri: URI = URI.create(s"${if (secure) "https" else "http"}://$authority")
}

private[aws] object Target {

  /** @throws IllegalArgumentException if the address has no host, or another scheme than http and https */
  def of(endpoint: URI): Target = {
    val secure = endpoint.getScheme match {
      case scheme if "https".equalsIgnoreCase(scheme) => true
      case scheme if "http".equalsIgnoreCase(scheme) => false
      case _ => throw new IllegalArgumentException(s"The endpoint $endpoint begins with neither https:// nor http://")
    }
    if (endpoint.getHost == null) throw new IllegalArgumentException(s"The endpoint $endpoint has no host")
    val port = if (endpoint.getPort > 0) endpoint.getPort else if (secure) 443 else 80
    Target(secure, endpoint.getHost.stripPrefix("[").stripSuffix("]"), port)
  }
}

/**
 * A POST request. Its content is the first `length` bytes of `content`, which must not change until the call has ended.
 *
 * @param path
 *   the path as it is sent, at least `/`
 * @param headers
 *   all headers except `Host` and `Content-Length`
 */
final private[aws] class HttpRequest(
    val target: Target,
    val path: String,
    val headers: Seq[(String, String)],
    val content: Array[Byte],
    val length: Int
) {

  /**
   * Returns the bytes before the content.
   *
   * @param proxied
   *   headers for a proxy that receives the request, which then has the whole address in its first line
   */
  def head(proxied: Option[Seq[(String, String)]]): Array[Byte] = {
    val text = new java.lang.StringBuilder(512)
    text.append("POST ")
    if (proxied.isDefined) text.append("http://").append(target.authority)
    text.append(path).append(" HTTP/1.1\r\n")
    def add(name: String, value: String): Unit = {
      HttpRequest.check(name, value)
      text.append(name).append(": ").append(value).append("\r\n")
      ()
    }
    add("Host", target.authority)
    add("Content-Length", length.toString)
    headers.foreach { case (name, value) => add(name, value) }
    proxied.foreach(_.foreach { case (name, value) => add(name, value) })
    text.append("\r\n").toString.getBytes(ISO_8859_1)
  }
}

private object HttpRequest {

  /** A line break in a value would add a header. The error does not show the value, which may be a secret. */
  def check(name: String, value: String): Unit = {
    var i = 0
    while (i < value.length) {
      val c = value.charAt(i)
      if (c < ' ' || c > '~')
        throw new IllegalArgumentException(s"The header $name has a character that HTTP does not allow")
      i += 1
    }
  }
}
