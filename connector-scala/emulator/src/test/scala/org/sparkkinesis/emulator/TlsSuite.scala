package org.sparkkinesis.emulator

import java.io.ByteArrayInputStream
import java.net.URI
import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import java.nio.charset.StandardCharsets.US_ASCII
import java.security.KeyStore
import java.security.cert.CertificateFactory
import java.security.interfaces.ECPublicKey
import javax.net.ssl.{SSLContext, SSLHandshakeException, TrustManagerFactory}

import org.sparkkinesis.emulator.wire.http.ServerCertificate
import org.sparkkinesis.suite.TimedSuite

class TlsSuite extends TimedSuite {
  private def contextThatTrusts(pem: String): SSLContext = {
    val certificate =
      CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(pem.getBytes(US_ASCII)))
    val store = KeyStore.getInstance(KeyStore.getDefaultType)
    store.load(null, null)
    store.setCertificateEntry("emulator", certificate)
    val trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm)
    trust.init(store)
    val context = SSLContext.getInstance("TLS")
    context.init(null, trust.getTrustManagers, null)
    context
  }

  private def get(context: SSLContext, endpoint: String): HttpResponse[String] = HttpClient
    .newBuilder()
    .sslContext(context)
    .build()
    .send(
      HttpRequest.newBuilder(URI.create(s"$endpoint/_emulator/calls")).build(),
      HttpResponse.BodyHandlers.ofString()
    )

  test("a client that trusts the certificate connects by both names, and other clients fail") {
    val emulator = KinesisEmulator.start(EmulatorConfig(tls = true))
    try {
      val trusting = contextThatTrusts(emulator.certificatePem)
      Seq(emulator.endpoint, s"https://localhost:${emulator.port}").foreach { endpoint =>
        val answer = get(trusting, endpoint)
        assert(answer.statusCode == 200)
        assert(answer.version == HttpClient.Version.HTTP_2)
      }
      intercept[SSLHandshakeException](get(SSLContext.getDefault, emulator.endpoint))
    } finally emulator.close()
  }

  test("a certificate is self-signed and valid now, and each certificate has a new key") {
    val (one, other) = (ServerCertificate.create(), ServerCertificate.create())
    one.certificate.checkValidity()
    one.certificate.verify(one.certificate.getPublicKey)
    assert(one.certificate.getPublicKey.isInstanceOf[ECPublicKey])
    assert(one.certificate.getPublicKey != other.certificate.getPublicKey)
  }
}
