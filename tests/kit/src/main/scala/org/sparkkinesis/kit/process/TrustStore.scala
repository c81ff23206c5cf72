package org.sparkkinesis.kit.process

import java.io.ByteArrayInputStream
import java.nio.charset.StandardCharsets.US_ASCII
import java.nio.file.{Files, Path}
import java.security.KeyStore
import java.security.cert.CertificateFactory

import scala.util.Using

/**
 * A file with one trusted certificate, for clients that trust the certificates of their JVM, as the connector and the
 * SDK do. The file ends with this JVM.
 *
 * @param pem
 *   the certificate as PEM text
 */
final class TrustStore(pem: String) {
  import TrustStore._

  private val file: Path = {
    val created = Files.createTempFile("trust-store", ".p12")
    created.toFile.deleteOnExit()
    val certificate =
      CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(pem.getBytes(US_ASCII)))
    val store = KeyStore.getInstance(Format)
    store.load(null, null)
    store.setCertificateEntry("emulator", certificate)
    Using.resource(Files.newOutputStream(created))(store.store(_, Password.toCharArray))
    created
  }

  private val properties: Seq[(String, String)] = Seq(
    "javax.net.ssl.trustStore" -> file.toString,
    "javax.net.ssl.trustStoreType" -> Format,
    "javax.net.ssl.trustStorePassword" -> Password
  )

  /** The options with which another JVM trusts the certificate. */
  def options: Seq[String] = properties.map { case (name, value) => s"-D$name=$value" }

  /** Makes this JVM trust the certificate. It affects clients that are created afterwards. */
  def useInThisJvm(): Unit = properties.foreach { case (name, value) => System.setProperty(name, value) }
}

private object TrustStore {
  private val Format = "PKCS12"

  /** Protects nothing: the file contains a public certificate only. Without it, Java does not read the certificate. */
  private val Password = "public"
}
