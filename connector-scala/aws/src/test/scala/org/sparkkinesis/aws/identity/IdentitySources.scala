package org.sparkkinesis.aws.identity

import java.nio.file.{Files, Path}
import java.util.function.Supplier

import org.sparkkinesis.aws.client.CredentialSettings
import org.sparkkinesis.aws.client.CredentialSettings._
import org.sparkkinesis.emulator.KinesisEmulator
import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}
import org.sparkkinesis.emulator.wire.auth.{EmulatorRole, EmulatorSession}
import org.sparkkinesis.network.ContainerEndpoint

/**
 * A way in which a query gets credentials. The test decides what the source of the credentials gives.
 *
 * @param isFixed
 *   whether the credentials cannot change while a query is running
 */
abstract class IdentitySource(val name: String, val isFixed: Boolean = false) {

  /** The settings of a client. A client that is created later has the same source. */
  def settings: CredentialSettings

  /** The source fails. */
  def fail(): Unit

  /** The source gives these credentials. Those of a role are found by the Security Token Service. */
  def give(session: EmulatorSession): Unit

  def close(): Unit = ()

  /** System properties that lead the AWS default chain to the source. */
  def properties: Map[String, String] = Map.empty
  override def toString: String = name
}

/** A class of the user. */
final class GivenSupplier extends Supplier[java.util.Map[String, String]] {
  override def get(): java.util.Map[String, String] = {
    val session = GivenSupplier.found.getOrElse(throw new IllegalStateException("the vault is sealed"))
    java.util.Map.of(
      "accessKeyId",
      session.accessKeyId,
      "secretAccessKey",
      session.secretAccessKey,
      "sessionToken",
      session.sessionToken
    )
  }
}
object GivenSupplier { @volatile var found = Option.empty[EmulatorSession] }

/** The sources of the matrix, with an emulator that has the key and the roles of this object. */
object IdentitySources {
  val Key = "AKIDEXAMPLE"
  val Secret = "secret"
  private val ExternalId = "external-id"
  val Hub: EmulatorRole = EmulatorRole("arn:aws:iam::123456789012:role/hub")
  val Reader: EmulatorRole = EmulatorRole("arn:aws:iam::123456789012:role/reader", Some(ExternalId))

  def of(emulator: KinesisEmulator, folder: Path): Seq[IdentitySource] = Seq(
    fixed("static keys", _ => Static(Key, Secret, None), emulator),
    fixed(
      "static keys with a session token",
      s => Static(s.accessKeyId, s.secretAccessKey, Some(s.sessionToken)),
      emulator
    ),
    profile(folder),
    container(),
    webIdentity(emulator, folder),
    role("a role", emulator, Static(Key, Secret, None)),
    role(
      "a chain of roles",
      emulator,
      AssumeRole(Hub.arn, "s", None, Some(emulator.endpoint), Static(Key, Secret, None))
    ),
    supplier()
  )

  private def fixed(
      name: String,
      of: EmulatorSession => CredentialSettings,
      emulator: KinesisEmulator
  ): IdentitySource = new IdentitySource(name, isFixed = true) {
    private var session = emulator.createSession()
    override def settings: CredentialSettings = of(session)
    override def fail(): Unit = ()
    override def give(found: EmulatorSession): Unit = session = found
  }

  private def profile(folder: Path): IdentitySource = new IdentitySource("a profile") {
    private val file = folder.resolve("credentials")
    override def settings: CredentialSettings = Profile("reader")
    override def fail(): Unit = write("[other]\naws_access_key_id = none\naws_secret_access_key = none\n")
    override def give(s: EmulatorSession): Unit = write(
      s"[reader]\naws_access_key_id = ${s.accessKeyId}\naws_secret_access_key = ${s.secretAccessKey}\n" +
        s"aws_session_token = ${s.sessionToken}\n"
    )
    override def properties: Map[String, String] = Map("aws.sharedCredentialsFile" -> file.toString)
    private def write(text: String): Unit = {
      Files.writeString(file, text)
      ()
    }
  }

  private def container(): IdentitySource = new IdentitySource("a container's endpoint") {
    private val endpoint = new ContainerEndpoint
    override def settings: CredentialSettings = DefaultChain
    override def fail(): Unit = endpoint.fail()
    override def give(s: EmulatorSession): Unit = endpoint.give(s.accessKeyId, s.secretAccessKey, s.sessionToken)
    override def close(): Unit = endpoint.close()
    override def properties: Map[String, String] = Map(endpoint.property)
  }

  private def role(name: String, emulator: KinesisEmulator, base: CredentialSettings): IdentitySource =
    new IdentitySource(name) {
      override def settings: CredentialSettings =
        AssumeRole(Reader.arn, "s", Some(ExternalId), Some(emulator.endpoint), base)
      override def fail(): Unit = silence(emulator, "AssumeRole")
      override def give(session: EmulatorSession): Unit = emulator.faults.clear()
    }

  private def webIdentity(emulator: KinesisEmulator, folder: Path): IdentitySource =
    new IdentitySource("a web identity token") {
      private val file = Files.writeString(folder.resolve("token"), "token")
      override def settings: CredentialSettings = DefaultChain
      override def fail(): Unit = silence(emulator, "AssumeRoleWithWebIdentity")
      override def give(session: EmulatorSession): Unit = emulator.faults.clear()
      override def properties: Map[String, String] = Map(
        "aws.webIdentityTokenFile" -> file.toString,
        "aws.roleArn" -> Hub.arn,
        "aws.roleSessionName" -> "s",
        "aws.region" -> emulator.region,
        "aws.endpointUrlSts" -> emulator.endpoint
      )
    }

  private def silence(emulator: KinesisEmulator, operation: String): Unit = {
    emulator.faults.add(FaultRule(FaultEffect.Error(503, "ServiceUnavailable", "injected"), operation = operation))
    ()
  }

  private def supplier(): IdentitySource = new IdentitySource("a class of the user") {
    override def settings: CredentialSettings = SuppliedBy(classOf[GivenSupplier].getName)
    override def fail(): Unit = GivenSupplier.found = None
    override def give(session: EmulatorSession): Unit = GivenSupplier.found = Some(session)
  }
}
