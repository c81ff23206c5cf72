package org.sparkkinesis.emulator.wire.http

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.security.cert.X509Certificate
import java.security.{KeyStore, PrivateKey, SecureRandom}
import java.util.{Base64, HexFormat}

import scala.util.Using

import org.sparkkinesis.error.{EmulatorErrors, KinesisConnectorException}

/** A private key and its self-signed certificate. */
final class ServerCertificate private (val key: PrivateKey, val certificate: X509Certificate) {

  /** The certificate as PEM text, for the trust store of a client. */
  def pem: String = {
    val text = Base64.getMimeEncoder(64, Array('\n')).encodeToString(certificate.getEncoded)
    s"-----BEGIN CERTIFICATE-----\n$text\n-----END CERTIFICATE-----\n"
  }
}

object ServerCertificate {
  private val Alias = "emulator"
  private val PasswordVariable = "EMULATOR_STORE_PASSWORD"
  private val Loopback = Seq("dns:localhost", "ip:127.0.0.1")
  private val ValidDays = "365"

  /**
   * Creates a key and a certificate that is valid for one year. Runs the `keytool` of this Java installation, which
   * takes about a second, since the JDK has no public API for this.
   *
   * @param more
   *   subject alternative names beside `localhost` and 127.0.0.1, such as `dns:emulator` and `ip:10.0.0.1`
   */
  def create(more: Seq[String] = Nil): ServerCertificate = {
    val folder = Files.createTempDirectory("kinesis-emulator-certificate")
    val file = folder.resolve("key-store.p12")
    val password = randomPassword()
    try {
      runKeytool(file, password, Loopback ++ more)
      read(file, password.toCharArray)
    } finally {
      Files.deleteIfExists(file)
      Files.delete(folder)
    }
  }

  private def randomPassword(): String = {
    val bytes = new Array[Byte](16)
    new SecureRandom().nextBytes(bytes)
    HexFormat.of().formatHex(bytes)
  }

  private def runKeytool(file: Path, password: String, names: Seq[String]): Unit = {
    val keytool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString
    val command = Seq(keytool, "-genkeypair", "-alias", Alias, "-dname", "CN=Kinesis emulator") ++
      Seq("-keyalg", "EC", "-groupname", "secp256r1", "-sigalg", "SHA256withECDSA") ++
      Seq("-ext", "BasicConstraints:critical=ca:true", "-ext", s"SubjectAlternativeName=${names.mkString(",")}") ++
      Seq("-startdate", "-1H", "-validity", ValidDays) ++
      Seq("-storetype", "PKCS12", "-keystore", file.toString, "-storepass:env", PasswordVariable)
    val builder = new ProcessBuilder(command: _*).redirectErrorStream(true)
    builder.environment.put(PasswordVariable, password)
    val process =
      try builder.start()
      catch { case e: IOException => throw failed(s"$keytool could not be run: ${e.getMessage}") }
    process.getOutputStream.close()
    val output = new String(process.getInputStream.readAllBytes(), UTF_8).trim
    val code = process.waitFor()
    if (code != 0) throw failed(s"$keytool ended with code $code: $output")
  }

  private def failed(reason: String): KinesisConnectorException = EmulatorErrors.failed(
    what = "cannot create a certificate for TLS",
    reason = reason,
    fix = "Run the emulator on a complete installation of Java 17 or newer, or without TLS."
  )

  private def read(file: Path, password: Array[Char]): ServerCertificate = {
    val store = KeyStore.getInstance("PKCS12")
    Using.resource(Files.newInputStream(file))(store.load(_, password))
    val key = store.getKey(Alias, password).asInstanceOf[PrivateKey]
    new ServerCertificate(key, store.getCertificate(Alias).asInstanceOf[X509Certificate])
  }
}
