package org.sparkkinesis.emulator.wire.http

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}
import java.nio.charset.StandardCharsets.{US_ASCII, UTF_8}
import java.security.cert.{CertificateFactory, X509Certificate}
import java.security.spec.ECGenParameterSpec
import java.security.{KeyPairGenerator, PrivateKey, SecureRandom, Signature}
import java.time.format.DateTimeFormatter
import java.time.{Instant, ZoneOffset}
import java.util.Base64

/** A key and a certificate for `localhost` and 127.0.0.1, made at start. The JDK has no public API that makes one. */
final class SelfSigned private (val key: PrivateKey, val certificate: X509Certificate) {

  /** For clients that are to trust this emulator. */
  def pem: String = {
    val text = Base64.getMimeEncoder(64, Array('\n')).encodeToString(certificate.getEncoded)
    s"-----BEGIN CERTIFICATE-----\n$text\n-----END CERTIFICATE-----\n"
  }
}

object SelfSigned {
  private val EcdsaWithSha256 = "1.2.840.10045.4.3.2"
  private val CommonName = "2.5.4.3"
  private val SubjectAltName = "2.5.29.17"
  private val BasicConstraints = "2.5.29.19"
  private val Year = 365L * 24 * 3600

  def generate(now: Instant): SelfSigned = {
    val generator = KeyPairGenerator.getInstance("EC")
    generator.initialize(new ECGenParameterSpec("secp256r1"))
    val pair = generator.generateKeyPair()
    val algorithm = sequence(oid(EcdsaWithSha256))
    val name = sequence(der(0x31, sequence(oid(CommonName), der(0x0c, "Kinesis emulator".getBytes(UTF_8)))))
    val names = sequence(der(0x82, "localhost".getBytes(US_ASCII)), der(0x87, Array[Byte](127, 0, 0, 1)))
    val extensions = sequence(
      sequence(
        oid(BasicConstraints),
        der(0x01, Array(0xff.toByte)),
        der(0x04, sequence(der(0x01, Array(0xff.toByte))))
      ),
      sequence(oid(SubjectAltName), der(0x04, names))
    )
    val body = sequence(
      der(0xa0, der(0x02, Array[Byte](2))),
      der(0x02, BigInt(64, new SecureRandom).setBit(62).toByteArray),
      algorithm,
      name,
      sequence(time(now.minusSeconds(3600)), time(now.plusSeconds(Year))),
      name,
      pair.getPublic.getEncoded,
      der(0xa3, extensions)
    )
    val signer = Signature.getInstance("SHA256withECDSA")
    signer.initSign(pair.getPrivate)
    signer.update(body)
    val encoded = sequence(body, algorithm, der(0x03, 0.toByte +: signer.sign()))
    val certificate = CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(encoded))
    new SelfSigned(pair.getPrivate, certificate.asInstanceOf[X509Certificate])
  }

  private def der(tag: Int, content: Array[Byte]*): Array[Byte] = {
    val bytes = content.foldLeft(Array.emptyByteArray)(_ ++ _)
    val length =
      if (bytes.length < 0x80) Array(bytes.length.toByte)
      else {
        val digits = BigInt(bytes.length).toByteArray.dropWhile(_ == 0)
        (0x80 | digits.length).toByte +: digits
      }
    (tag.toByte +: length) ++ bytes
  }

  private def sequence(parts: Array[Byte]*): Array[Byte] = der(0x30, parts: _*)

  private def time(at: Instant): Array[Byte] =
    der(0x17, DateTimeFormatter.ofPattern("yyMMddHHmmss'Z'").format(at.atOffset(ZoneOffset.UTC)).getBytes(US_ASCII))

  private def oid(dotted: String): Array[Byte] = {
    val numbers = dotted.split('.').map(_.toLong)
    val out = new ByteArrayOutputStream
    ((numbers(0) * 40 + numbers(1)) +: numbers.drop(2).toSeq).foreach { number =>
      val groups = Iterator.iterate(number)(_ >> 7).takeWhile(_ > 0).map(_ & 0x7f).toSeq.reverse
      groups.zipWithIndex.foreach { case (group, i) =>
        out.write((if (i < groups.size - 1) group | 0x80 else group).toInt)
      }
    }
    der(0x06, out.toByteArray)
  }
}
