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

/** Gives the option `Key-Id` as access key. */
final class FunctionForTest
    extends java.util.function.Function[java.util.Map[String, String], java.util.Map[String, String]] {
  override def apply(options: java.util.Map[String, String]): java.util.Map[String, String] =
    java.util.Map.of("accessKeyId", options.get("Key-Id"), "secretAccessKey", options.get("secret"))
}

/** Answers when the test allows it. */
final class SlowSupplier extends Supplier[java.util.Map[String, String]] {
  override def get(): java.util.Map[String, String] = {
    SlowSupplier.threads.add(Thread.currentThread.getName)
    SlowSupplier.answer.await()
    java.util.Map.of("accessKeyId", "slow", "secretAccessKey", "secret")
  }
}
object SlowSupplier {
  @volatile var answer = new java.util.concurrent.CountDownLatch(1)
  val threads: java.util.Set[String] = java.util.concurrent.ConcurrentHashMap.newKeySet()
  def reset(): Unit = {
    answer = new java.util.concurrent.CountDownLatch(1)
    threads.clear()
  }
}

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

  test("a class of the user gets options of its own, whatever the case of their names is") {
    val options = Map("key-id" -> "own", "secret" -> "hidden-secret")
    val settings = CredentialSettings.SuppliedBy(classOf[FunctionForTest].getName, options)
    val found = resolve(settings)
    assert((found.accessKeyId, found.secretAccessKey) == (("own", "hidden-secret")))
    assert(settings.toString.contains("key-id, secret") && !settings.toString.contains("hidden"))
  }

  test("options for a class that takes none are an error that names one of them") {
    val settings = CredentialSettings.SuppliedBy(classOf[SuppliedForTest].getName, Map("path" -> "hidden-path"))
    val error = intercept[KinesisConnectorException](Credentials.of(settings, Region.US_EAST_1, Network.Standard))
    assert(error.getMessage.contains("'credentialsProvider.path'") && !error.getMessage.contains("hidden"))
  }

  private class Ticks {
    var nanos = 0L
    def credentials(settings: CredentialSettings, environment: Map[String, String] = Map.empty): Credentials =
      Credentials.of(
        settings,
        Region.US_EAST_1,
        Network.Standard,
        environment = environment.get,
        nanoTime = () => nanos
      )
  }

  test("a renewal asks a user's class again, and only the first of several calls renews") {
    RotatingSupplier.asked.set(0)
    val ticks = new Ticks
    val credentials = ticks.credentials(CredentialSettings.SuppliedBy(classOf[RotatingSupplier].getName))
    def id = credentials.resolveIdentity().get().accessKeyId
    try {
      assert((id, id) == ("id-1", "id-1"))
      assert((1 to 3).forall(_ => credentials.renew(0)))
      assert((id, id, credentials.renewals) == (("id-2", "id-2", 1)))
    } finally credentials.close()
  }

  test("a source is renewed at most once in a second") {
    val ticks = new Ticks
    val credentials = ticks.credentials(CredentialSettings.SuppliedBy(classOf[RotatingSupplier].getName))
    try {
      assert((credentials.renew(0), credentials.renew(1)) == ((true, false)))
      ticks.nanos += Credentials.RenewalPeriod.toNanos
      assert((credentials.renew(1), credentials.renewals) == ((true, 2)))
    } finally credentials.close()
  }

  test("credentials of options and of environment variables cannot change, and others can") {
    val static = CredentialSettings.Static("id", "secret", Some("token"))
    def role(base: CredentialSettings) =
      CredentialSettings.AssumeRole("arn:aws:iam::123456789012:role/r", "s", None, None, base)
    val table = Seq[(CredentialSettings, (Boolean, Boolean))](
      static -> ((false, false)),
      CredentialSettings.Profile("p") -> ((true, true)),
      CredentialSettings.DefaultChain -> ((true, true)),
      CredentialSettings.SuppliedBy(classOf[SuppliedForTest].getName) -> ((true, true)),
      role(static) -> ((true, false)),
      role(role(static)) -> ((true, false)),
      role(role(CredentialSettings.DefaultChain)) -> ((true, true))
    )
    table.foreach { case (settings, expected) =>
      val credentials = new Ticks().credentials(settings)
      try assert((credentials.canChange(isOfSts = false), credentials.canChange(isOfSts = true)) == expected, settings)
      finally credentials.close()
    }
  }

  test("keys of environment variables cannot change, and other keys of the default chain can") {
    val keys = Map("aws.accessKeyId" -> "AKIDPROCESS", "aws.secretAccessKey" -> "secret")
    keys.foreach { case (key, value) => System.setProperty(key, value) }
    try
      Seq("AKIDPROCESS" -> false, "AKIDOTHER" -> true).foreach { case (variable, changes) =>
        val environment = Map("AWS_ACCESS_KEY_ID" -> variable)
        val credentials = new Ticks().credentials(CredentialSettings.DefaultChain, environment)
        try {
          assert(credentials.resolveIdentity().get().accessKeyId == "AKIDPROCESS")
          assert(credentials.canChange(isOfSts = false) == changes)
        } finally credentials.close()
      }
    finally keys.keys.foreach(System.clearProperty)
  }

  test("many calls that wait for credentials share one resolution, on at most two threads") {
    SlowSupplier.reset()
    val credentials = new Ticks().credentials(CredentialSettings.SuppliedBy(classOf[SlowSupplier].getName))
    try {
      val waiting = (1 to 200).map(_ => credentials.resolveIdentity())
      assert(!waiting.exists(_.isDone))
      SlowSupplier.answer.countDown()
      assert(waiting.map(_.get().accessKeyId).toSet == Set("slow"))
      assert(SlowSupplier.threads.size == 1)
    } finally credentials.close()
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
