package org.sparkkinesis.aws.transport

import java.net.URI
import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest
import java.time.format.DateTimeFormatter
import java.time.{Instant, ZoneOffset}
import java.util.HexFormat
import javax.crypto.Mac
import javax.crypto.spec.SecretKeySpec

import software.amazon.awssdk.identity.spi.{AwsCredentialsIdentity, AwsSessionCredentialsIdentity}

/**
 * Signs requests with Signature Version 4 of AWS, as the SDK's signer does, without its objects for each request. A
 * property compares the two. Thread-safe.
 *
 * @param service
 *   name of the service in signatures
 */
final private[aws] class Signature(service: String, region: String, caller: String) {
  import Signature._

  @volatile private var lastKey: DayKey = null

  /**
   * Returns a signed request.
   *
   * @param kind
   *   media type of the content
   * @param operation
   *   version of the API and operation
   * @param content
   *   its first `length` bytes are the content
   */
  def sign(
      identity: AwsCredentialsIdentity,
      now: Instant,
      target: Target,
      path: String,
      kind: String,
      operation: String,
      content: Array[Byte],
      length: Int
  ): HttpRequest = {
    val time = Times.format(now)
    val token = identity match {
      case session: AwsSessionCredentialsIdentity => session.sessionToken.trim
      case _ => null
    }
    val digest = MessageDigest.getInstance("SHA-256")
    digest.update(content, 0, length)
    val contentHash = Hex.formatHex(digest.digest())
    val signedNames = if (token == null) SignedNames else SignedNamesWithToken
    val canonical = new java.lang.StringBuilder(512)
    canonical.append("POST\n").append(encoded(path)).append("\n\n")
    canonical.append("content-length:").append(length).append('\n')
    canonical.append("content-type:").append(kind).append('\n')
    canonical.append("host:").append(target.authority).append('\n')
    canonical.append("x-amz-content-sha256:").append(contentHash).append('\n')
    canonical.append("x-amz-date:").append(time).append('\n')
    if (token != null) canonical.append("x-amz-security-token:").append(token).append('\n')
    canonical.append("x-amz-target:").append(operation).append("\n\n")
    canonical.append(signedNames).append('\n').append(contentHash)
    val canonicalHash = Hex.formatHex(digest.digest(canonical.toString.getBytes(UTF_8)))

    val day = time.substring(0, 8)
    val scope = s"$day/$region/$service/aws4_request"
    val text = s"AWS4-HMAC-SHA256\n$time\n$scope\n$canonicalHash"
    val signature = Hex.formatHex(hmac(keyOf(identity.secretAccessKey.trim, day), text))
    val headers = Seq(
      "Content-Type" -> kind,
      "X-Amz-Target" -> operation,
      "User-Agent" -> caller,
      "x-amz-content-sha256" -> contentHash,
      "X-Amz-Date" -> time,
      "Authorization" ->
        (s"AWS4-HMAC-SHA256 Credential=${identity.accessKeyId.trim}/$scope, " +
          s"SignedHeaders=$signedNames, Signature=$signature")
    )
    val all = if (token == null) headers else headers :+ ("X-Amz-Security-Token" -> token)
    new HttpRequest(target, path, all, content, length)
  }

  /** The key of a day, which is derived once. */
  private def keyOf(secret: String, day: String): Array[Byte] = {
    val last = lastKey
    if (last != null && last.day == day && last.secret == secret) last.key
    else {
      val ofDay = hmac(s"AWS4$secret".getBytes(UTF_8), day)
      val key = hmac(hmac(hmac(ofDay, region), service), "aws4_request")
      lastKey = new DayKey(secret, day, key)
      key
    }
  }
}

private[aws] object Signature {
  private val SignedNames = "content-length;content-type;host;x-amz-content-sha256;x-amz-date;x-amz-target"
  private val SignedNamesWithToken =
    "content-length;content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token;x-amz-target"
  private val Times = DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC)
  private val Hex = HexFormat.of()

  final private class DayKey(val secret: String, val day: String, val key: Array[Byte])

  /** The path of an endpoint as it is sent. */
  def pathOf(endpoint: URI): String = {
    val path = endpoint.getRawPath
    if (path == null || path.isEmpty) "/" else path
  }

  /** A signature covers the path with each part encoded once more. */
  private def encoded(path: String): String =
    if (path == "/") path
    else {
      val text = new java.lang.StringBuilder
      path.getBytes(UTF_8).foreach { byte =>
        val c = (byte & 0xff).toChar
        val isPlain = c < 0x80 && (Character.isLetterOrDigit(c) || "/-_.~".indexOf(c.toInt) >= 0)
        if (isPlain) text.append(c) else text.append('%').append(Hex.withUpperCase.toHexDigits(byte))
      }
      text.toString
    }

  private def hmac(key: Array[Byte], text: String): Array[Byte] = {
    val mac = Mac.getInstance("HmacSHA256")
    mac.init(new SecretKeySpec(key, "HmacSHA256"))
    mac.doFinal(text.getBytes(UTF_8))
  }
}
