package org.sparkkinesis.aws.client

import java.util.function.Supplier

import software.amazon.awssdk.identity.spi.{AwsCredentialsIdentity, AwsSessionCredentialsIdentity}
import software.amazon.awssdk.regions.Region

import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.network.Network
import org.sparkkinesis.service.ServiceErrorKind
import org.sparkkinesis.suite.TimedSuite

final class SuppliedForTest extends Supplier[java.util.Map[String, String]] {
  override def get(): java.util.Map[String, String] =
    java.util.Map.of("accessKeyId", "id", "secretAccessKey", "secret", "sessionToken", "token")
}
final class SupplierWithoutKey extends Supplier[java.util.Map[String, String]] {
  override def get(): java.util.Map[String, String] = java.util.Map.of("accessKeyId", "id")
}

/** Gives `first` until it is asked a second time. */
final class RotatingSupplier extends Supplier[java.util.Map[String, String]] {
  override def get(): java.util.Map[String, String] = {
    val asked = RotatingSupplier.asked.incrementAndGet()
    java.util.Map.of("accessKeyId", s"id-$asked", "secretAccessKey", "secret", "sessionToken", "token")
  }
}
object RotatingSupplier { val asked = new java.util.concurrent.atomic.AtomicInteger }

class CredentialsSuite extends TimedSuite {
  private def resolve(settings: CredentialSettings): AwsCredentialsIdentity = {
    val credentials = Credentials.of(settings, Region.US_EAST_1, Network.Standard)
    try credentials.resolveIdentity().get()
    finally credentials.close()
  }

  test("static credentials are returned unchanged, with a session token if there is one") {
    assert(resolve(CredentialSettings.Static("id", "secret", None)).secretAccessKey == "secret")
    resolve(CredentialSettings.Static("id", "secret", Some("token"))) match {
      case session: AwsSessionCredentialsIdentity => assert(session.sessionToken == "token")
      case other => fail(s"no session credentials: ${other.getClass}")
    }
  }

  test("a class of the user supplies credentials") {
    resolve(CredentialSettings.SuppliedBy(classOf[SuppliedForTest].getName)) match {
      case session: AwsSessionCredentialsIdentity => assert(session.sessionToken == "token")
      case other => fail(s"no session credentials: ${other.getClass}")
    }
  }

  test("a user's class is asked again at once when what it gave has expired, and else when five minutes have passed") {
    def error(code: String) = new org.sparkkinesis.service.ServiceException(
      ServiceErrorKind.AccessDenied,
      org.sparkkinesis.service.Operation.PutRecords,
      code,
      "The security token included in the request is expired"
    )
    RotatingSupplier.asked.set(0)
    val settings = CredentialSettings.SuppliedBy(classOf[RotatingSupplier].getName)
    val credentials = Credentials.of(settings, Region.US_EAST_1, Network.Standard)
    def id = credentials.resolveIdentity().get().accessKeyId
    try {
      assert((id, id) == ("id-1", "id-1"))
      assert(!credentials.mayDifferAfter(error("AccessDeniedException")))
      assert(id == "id-1")
      assert(credentials.mayDifferAfter(error("ExpiredTokenException")))
      assert((id, id) == ("id-2", "id-2"))
    } finally credentials.close()
    val fixed =
      Credentials.of(CredentialSettings.Static("id", "secret", Some("token")), Region.US_EAST_1, Network.Standard)
    assert(!fixed.mayDifferAfter(error("ExpiredTokenException")))
    fixed.close()
  }

  for (
    (what, name) <- Seq(
      "is missing" -> "org.example.Missing",
      "is not a supplier" -> "java.lang.Object",
      "cannot be constructed" -> "java.lang.Runnable"
    )
  ) test(s"a class of the user that $what is rejected by name") {
    val error =
      intercept[KinesisConnectorException](Credentials.of(
        CredentialSettings.SuppliedBy(name),
        Region.US_EAST_1,
        Network.Standard
      ))
    assert(error.condition == "KINESIS_CREDENTIALS_FAILED")
    assert(error.getMessage.contains(name), error.getMessage)
  }

  test("if a class of the user omits a key, the call fails with a client error that names the key") {
    val settings = ClientSettings.of(
      Some("us-east-1"),
      Some("http://127.0.0.1:1"),
      CredentialSettings.SuppliedBy(classOf[SupplierWithoutKey].getName)
    )
    val service = SdkClients.create(settings)
    try {
      val failure = intercept[java.util.concurrent.ExecutionException](service.listStreams(None).get())
      failure.getCause match {
        case error: org.sparkkinesis.service.ServiceException =>
          assert(error.kind == ServiceErrorKind.Client)
          assert(error.getMessage.contains("secretAccessKey"), error.getMessage)
        case other => fail(s"not a classified error: $other")
      }
    } finally service.close()
  }

  test("an endpoint without a listener is a network error") {
    val service = SdkClients.create(ClientSettings.of(
      Some("us-east-1"),
      Some("http://127.0.0.1:1"),
      CredentialSettings.Static("a", "b", None)
    ))
    try {
      val failure = intercept[java.util.concurrent.ExecutionException](service.listStreams(None).get())
      assert(
        failure.getCause.asInstanceOf[org.sparkkinesis.service.ServiceException].kind ==
          ServiceErrorKind.Network
      )
    } finally service.close()
  }
}
