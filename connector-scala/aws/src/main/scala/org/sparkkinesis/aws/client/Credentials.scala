package org.sparkkinesis.aws.client

import java.time.Instant
import java.util.concurrent.{CompletableFuture, ExecutorService, Executors}
import java.util.function.Supplier

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import software.amazon.awssdk.auth.credentials._
import software.amazon.awssdk.identity.spi.{AwsCredentialsIdentity, IdentityProvider, ResolveIdentityRequest}
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.sts.auth.StsAssumeRoleCredentialsProvider
import software.amazon.awssdk.services.sts.model.AssumeRoleRequest

import org.sparkkinesis.aws.http.{BlockingHttpClient, DaemonThreads}
import org.sparkkinesis.error.{KinesisConnectorException, ServiceErrors}
import org.sparkkinesis.network.Network
import org.sparkkinesis.secret.Redaction
import org.sparkkinesis.service.ServiceException

/** Credentials of one client. Resolving them does not block the caller. `close` stops the background refresh. */
final class Credentials private (
    provider: AwsCredentialsProvider,
    supplied: Option[SuppliedCredentials],
    owned: Seq[AutoCloseable],
    resolver: ExecutorService,
    network: Network
) extends IdentityProvider[AwsCredentialsIdentity]
    with AutoCloseable {
  override def identityType: Class[AwsCredentialsIdentity] = classOf[AwsCredentialsIdentity]

  override def resolveIdentity(request: ResolveIdentityRequest): CompletableFuture[AwsCredentialsIdentity] =
    provider match {
      case fixed: StaticCredentialsProvider => CompletableFuture.completedFuture(fixed.resolveCredentials)
      // The provider may read files, call the metadata service or call STS. The caller's thread must not block.
      case _ => CompletableFuture.supplyAsync(
          () => BlockingHttpClient.within(network)(Credentials.remembered(provider.resolveCredentials)),
          resolver
        )
    }

  /**
   * Returns whether a call that failed with this error may succeed with new credentials. If the credentials of a user's
   * class have expired, drops them, so that the next call asks the class again.
   */
  def mayDifferAfter(error: ServiceException): Boolean =
    Credentials.Expired(error.errorCode) && supplied.exists(_.forget())

  override def close(): Unit = {
    owned.foreach(_.close())
    resolver.shutdownNow()
    ()
  }
}

object Credentials {

  /** @param network the network of the calls that get credentials */
  def of(settings: CredentialSettings, region: Region, network: Network): Credentials = {
    // An executor has them from the driver.
    settings.secrets.foreach(Redaction.remember)
    val supplied = suppliedFor(settings)
    val (provider, owned) = BlockingHttpClient.within(network)(create(settings, region, supplied, network))
    new Credentials(
      provider,
      supplied,
      owned,
      Executors.newCachedThreadPool(DaemonThreads.named("kinesis-credentials")),
      network
    )
  }

  /** Returns the credentials, after which no log line and no error repeats their secrets. */
  private def remembered(credentials: AwsCredentials): AwsCredentials = {
    Redaction.remember(credentials.secretAccessKey)
    credentials match {
      case temporary: AwsSessionCredentials => Redaction.remember(temporary.sessionToken)
      case _ => ()
    }
    credentials
  }

  /** Error codes for expired credentials, including expired credentials of the caller that assumes a role. */
  private val Expired = Set("ExpiredTokenException", "ExpiredToken")

  private def suppliedFor(settings: CredentialSettings): Option[SuppliedCredentials] = settings match {
    case CredentialSettings.SuppliedBy(className) => Some(new SuppliedCredentials(className))
    case role: CredentialSettings.AssumeRole => suppliedFor(role.base)
    case _ => None
  }

  /** Returns the provider and the resources to close with it, outermost first. */
  private def create(
      settings: CredentialSettings,
      region: Region,
      supplied: Option[SuppliedCredentials],
      network: Network
  ): (AwsCredentialsProvider, Seq[AutoCloseable]) =
    settings match {
      case CredentialSettings.DefaultChain =>
        val chain = DefaultCredentialsProvider.builder().build()
        (chain, Seq(chain))
      case CredentialSettings.Static(id, secret, None) =>
        (StaticCredentialsProvider.create(AwsBasicCredentials.create(id, secret)), Nil)
      case CredentialSettings.Static(id, secret, Some(token)) =>
        (StaticCredentialsProvider.create(AwsSessionCredentials.create(id, secret, token)), Nil)
      case CredentialSettings.Profile(name) =>
        val profile = ProfileCredentialsProvider.create(name)
        (profile, Seq(profile))
      case CredentialSettings.SuppliedBy(className) => (supplied.getOrElse(new SuppliedCredentials(className)), Nil)
      case role: CredentialSettings.AssumeRole => assumeRole(role, region, supplied, network)
    }

  private def assumeRole(
      role: CredentialSettings.AssumeRole,
      region: Region,
      supplied: Option[SuppliedCredentials],
      network: Network
  ): (AwsCredentialsProvider, Seq[AutoCloseable]) = {
    val (base, ownedByBase) = create(role.base, region, supplied, network)
    val (client, http) = TokenService.client(role, base, region, network)
    val request = AssumeRoleRequest.builder().roleArn(role.roleArn).roleSessionName(role.sessionName)
    role.externalId.foreach(request.externalId)
    val provider = StsAssumeRoleCredentialsProvider
      .builder()
      .stsClient(client)
      .refreshRequest(request.build())
      .asyncCredentialUpdateEnabled(true)
      .build()
    (provider, Seq(provider, client, http) ++ ownedByBase)
  }
}

/** Gets credentials from a class of the user. Calls the class again after five minutes or when they have expired. */
final private class SuppliedCredentials(className: String) extends AwsCredentialsProvider {
  private val supplier = load()
  private var current: Option[(Instant, AwsCredentials)] = None

  override def resolveCredentials(): AwsCredentials = synchronized {
    val now = Instant.now()
    current match {
      case Some((until, credentials)) if now.isBefore(until) => credentials
      case _ =>
        val fresh = read()
        current = Some(now.plusSeconds(SuppliedCredentials.RefreshSeconds) -> fresh)
        fresh
    }
  }

  /** Drops the current credentials. Returns false if there were none, because the class is then called anyway. */
  def forget(): Boolean = synchronized {
    val had = current.isDefined
    current = None
    had
  }

  private def read(): AwsCredentials = {
    val supplied =
      try supplier.get.asScala
      catch { case NonFatal(error) => throw failed(s"The class $className threw ${error.getClass.getName}.", error) }
    def required(name: String): String =
      supplied.get(name).filter(_ != null).getOrElse(throw failed(
        s"The map that $className returned has no '$name'.",
        null
      ))
    supplied.get("sessionToken").filter(_ != null) match {
      case Some(token) => AwsSessionCredentials.create(required("accessKeyId"), required("secretAccessKey"), token)
      case None => AwsBasicCredentials.create(required("accessKeyId"), required("secretAccessKey"))
    }
  }

  private def load(): Supplier[java.util.Map[String, String]] =
    try {
      val loader = Option(Thread.currentThread.getContextClassLoader).getOrElse(getClass.getClassLoader)
      Class.forName(className, true, loader).getDeclaredConstructor().newInstance() match {
        case instance: Supplier[_] => instance.asInstanceOf[Supplier[java.util.Map[String, String]]]
        case _ => throw failed(s"The class $className does not implement java.util.function.Supplier.", null)
      }
    } catch {
      case error: ReflectiveOperationException =>
        throw failed(s"The class $className cannot be instantiated: ${error.getClass.getSimpleName}.", error)
    }

  private def failed(reason: String, cause: Throwable): KinesisConnectorException =
    ServiceErrors.credentialsFailed(stream = "any", reason = reason).causedBy(cause)
}

private object SuppliedCredentials {
  val RefreshSeconds = 300L
}
