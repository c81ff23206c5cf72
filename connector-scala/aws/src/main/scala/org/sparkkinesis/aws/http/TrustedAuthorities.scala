package org.sparkkinesis.aws.http

import java.io.IOException
import java.nio.file.{Files, NoSuchFileException, Paths}
import java.security.cert.{CertificateException, CertificateFactory}
import java.security.{GeneralSecurityException, KeyStore}
import javax.net.ssl.{TrustManager, TrustManagerFactory}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.sparkkinesis.error.ServiceErrors
import org.sparkkinesis.network.Network

/** The authorities whose certificates are trusted, from the PEM file of the network settings. */
private[aws] object TrustedAuthorities {

  /**
   * Returns what checks certificates, or nothing for those of the JVM.
   *
   * @throws org.sparkkinesis.error.KinesisConnectorException
   *   KINESIS_CA_FILE_INVALID
   */
  def of(network: Network): Option[TrustManager] = network.trustedFile.map { file =>
    try {
      val store = KeyStore.getInstance(KeyStore.getDefaultType)
      store.load(null, null)
      val certificates = Using.resource(Files.newInputStream(Paths.get(file))) { in =>
        CertificateFactory.getInstance("X.509").generateCertificates(in).asScala.toSeq
      }
      if (certificates.isEmpty) throw new CertificateException("It has no certificate.")
      certificates.zipWithIndex.foreach { case (one, i) => store.setCertificateEntry(s"authority-$i", one) }
      val managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm)
      managers.init(store)
      // The factory makes one for each kind of key, and there is one kind.
      managers.getTrustManagers.head
    } catch {
      case missing: NoSuchFileException => throw invalid(file, "The file does not exist.", missing)
      case unreadable: IOException =>
        throw invalid(file, s"The file cannot be read: ${unreadable.getMessage}", unreadable)
      case wrong: GeneralSecurityException => throw invalid(file, String.valueOf(wrong.getMessage), wrong)
    }
  }

  private def invalid(file: String, reason: String, cause: Exception) =
    ServiceErrors.caFileInvalid(file = file, reason = reason).causedBy(cause)
}
