package org.sparkkinesis.emulator.wire.auth

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest
import java.time.format.{DateTimeFormatter, DateTimeParseException}
import java.time.{Duration, Instant, LocalDateTime, ZoneOffset}
import java.util.HexFormat
import javax.crypto.Mac
import javax.crypto.spec.SecretKeySpec

import scala.jdk.CollectionConverters._

import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.wire.http.Exchange

/** An AWS Signature Version 4 in the Authorization header of a request. */
final private[auth] case class RequestSignature(
    accessKeyId: String,
    date: String,
    region: String,
    service: String,
    signedHeaders: Seq[String],
    signature: String
) {
  import RequestSignature._

  /**
   * Computes the signature with the secret and compares it. The time must be close to one of `times`: callers sign with
   * the time of their machine, or correct it by the `Date` of responses.
   */
  def check(exchange: Exchange, secret: String, times: Seq[Instant]): Unit = {
    val time = Option(exchange.header("X-Amz-Date")).getOrElse(throw incomplete(
      "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header."
    ))
    checkAge(time, times)
    val canonical = canonicalRequest(exchange)
    val toSign = s"$Algorithm\n$time\n$date/$region/$service/aws4_request\n${hex(sha256(canonical.getBytes(UTF_8)))}"
    val key = Seq(date, region, service, "aws4_request").foldLeft(s"AWS4$secret".getBytes(UTF_8))(hmac)
    if (!MessageDigest.isEqual(hex(hmac(key, toSign)).getBytes(UTF_8), signature.getBytes(UTF_8))) throw mismatch()
  }

  private def checkAge(time: String, times: Seq[Instant]): Unit = {
    val at =
      try LocalDateTime.parse(time, TimeFormat).toInstant(ZoneOffset.UTC)
      catch {
        case _: DateTimeParseException => throw incomplete(s"Date must be in ISO-8601 'basic format'. Got '$time'.")
      }
    if (times.forall(Duration.between(at, _).abs.compareTo(Tolerance) > 0)) {
      val now = times.head
      val what = if (at.isBefore(now)) "Signature expired: " else "Signature not yet current: "
      throw ServiceError(
        "InvalidSignatureException",
        s"$what$time is not within ${Tolerance.toMinutes} minutes of $now"
      )
    }
  }

  private def canonicalRequest(exchange: Exchange): String = {
    val headers = signedHeaders.map { name =>
      val values = exchange.head.headers.getAll(if (name == "host") hostHeader(exchange) else name).asScala
      s"$name:${values.map(_.trim.replaceAll(" +", " ")).mkString(",")}\n"
    }.mkString
    val announced = exchange.header("x-amz-content-sha256")
    val payload =
      if (announced == "UNSIGNED-PAYLOAD") announced
      else hex(sha256(exchange.bodyArray, exchange.bodyOffset, exchange.bodyLength))
    s"${exchange.method}\n${exchange.path}\n${exchange.query}\n$headers\n${signedHeaders.mkString(";")}\n$payload"
  }

  // HTTP/2 has an :authority, which the codec converts to Host.
  private def hostHeader(exchange: Exchange): String = if (exchange.header("host") == null) ":authority" else "host"
}

private[auth] object RequestSignature {
  private val Algorithm = "AWS4-HMAC-SHA256"
  private val Tolerance = Duration.ofMinutes(5)
  private val TimeFormat = DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'")
  private val Credential = """([^/]+)/(\d{8})/([^/]+)/([^/]+)/aws4_request""".r

  def of(exchange: Exchange): RequestSignature = {
    val header = exchange.header("Authorization")
    if (header == null) throw ServiceError("MissingAuthenticationTokenException", "Missing Authentication Token")
    val parts = header
      .stripPrefix(Algorithm)
      .split(',')
      .map(_.trim.split("=", 2))
      .collect { case Array(name, value) => name -> value }
      .toMap
    val missing = Seq("Credential", "SignedHeaders", "Signature").filterNot(parts.contains)
    if (!header.startsWith(Algorithm) || missing.nonEmpty)
      throw incomplete(missing.map(m => s"Authorization header requires '$m' parameter.").mkString(" "))
    parts("Credential") match {
      case Credential(key, date, region, service) =>
        RequestSignature(key, date, region, service, parts("SignedHeaders").split(';').toSeq, parts("Signature"))
      case other => throw incomplete(s"Credential must have exactly 5 slash-delimited elements, got '$other'.")
    }
  }

  /** The access key ID of the header, which may not be a valid one, or nothing. */
  def keyOf(exchange: Exchange): Option[String] = Option(exchange.header("Authorization"))
    .flatMap(CredentialOf.findFirstMatchIn(_)).map(_.group(1))

  private val CredentialOf = "Credential=([^/,]+)/".r

  private def incomplete(message: String): ServiceError = ServiceError("IncompleteSignatureException", message)

  private def mismatch(): ServiceError = ServiceError(
    "InvalidSignatureException",
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access " +
      "Key and signing method. Consult the service documentation for details."
  )

  private def sha256(bytes: Array[Byte]): Array[Byte] = sha256(bytes, 0, bytes.length)

  private def sha256(bytes: Array[Byte], offset: Int, length: Int): Array[Byte] = {
    val digest = MessageDigest.getInstance("SHA-256")
    digest.update(bytes, offset, length)
    digest.digest()
  }

  private def hmac(key: Array[Byte], text: String): Array[Byte] = {
    val mac = Mac.getInstance("HmacSHA256")
    mac.init(new SecretKeySpec(key, "HmacSHA256"))
    mac.doFinal(text.getBytes(UTF_8))
  }

  private def hex(bytes: Array[Byte]): String = HexFormat.of().formatHex(bytes)
}
