package org.sparkkinesis.aws.client

import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.suite.TimedSuite

class ClientSettingsSuite extends TimedSuite {
  private val secrets = Seq("AKIDSECRETPART", "very-secret-key", "session-secret", "external-secret")
  private val static = CredentialSettings.Static("AKIDSECRETPART", "very-secret-key", Some("session-secret"))

  test("the text of settings contains no secret at any depth") {
    val role =
      CredentialSettings.AssumeRole("arn:aws:iam::123456789012:role/r", "me", Some("external-secret"), None, static)
    val text = ClientSettings.of(Some("eu-central-1"), None, role).toString
    secrets.foreach(secret => assert(!text.contains(secret), text))
    assert(text.contains("role/r"))
  }

  test("the region of a stream ARN takes precedence over the configured one") {
    val settings = ClientSettings.of(Some("eu-central-1"), None, CredentialSettings.DefaultChain)
    val arn = StreamRef.parse("arn:aws:kinesis:us-west-2:123456789012:stream/orders").get
    assert(settings.forStream(arn).region == Some("us-west-2"))
    assert(settings.forStream(StreamRef.parse("orders").get).region == Some("eu-central-1"))
  }

  test("settings are equal after serialization, so that they find the shared client") {
    val settings = ClientSettings.of(Some("eu-central-1"), Some("http://127.0.0.1:1"), static)
    val bytes = new java.io.ByteArrayOutputStream
    new java.io.ObjectOutputStream(bytes).writeObject(settings)
    val back = new java.io.ObjectInputStream(new java.io.ByteArrayInputStream(bytes.toByteArray)).readObject()
    assert(back.asInstanceOf[ClientSettings] == settings)
  }
}
