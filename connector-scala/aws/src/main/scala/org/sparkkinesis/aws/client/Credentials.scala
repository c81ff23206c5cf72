package org.sparkkinesis.aws.client

import java.time.Clock
import java.util.concurrent.{CompletableFuture, ExecutorService, LinkedBlockingQueue, ThreadPoolExecutor, TimeUnit}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import software.amazon.awssdk.auth.credentials._
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy
import software.amazon.awssdk.core.SdkSystemSetting
import software.amazon.awssdk.identity.spi.{AwsCredentialsIdentity, ResolveIdentityRequest}
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.sts.StsClient
import software.amazon.awssdk.services.sts.auth.{
  StsAssumeRoleCredentialsProvider,
  StsWebIdentityTokenFileCredentialsProvider
}
import software.amazon.awssdk.services.sts.model.AssumeRoleRequest

import org.sparkkinesis.aws.error.CredentialsFailure
import org.sparkkinesis.aws.http.{BlockingHttpClient, DaemonThreads}
import org.sparkkinesis.aws.request.{RenewableCredentials, SigningClock}
import org.sparkkinesis.network.Network
import org.sparkkinesis.secret.Redaction

/**
 * Credentials of one client. Resolving them does not block the caller: calls share one resolution at a time, on a
 * thread of this instance. A failed resolution is a [[CredentialsFailure]]. `close` stops the background refresh.
 *
 * @param create
 *   creates the source of the credentials, at first and for each renewal; it may read files
 * @param owned
 *   what all sources use; closed with this instance
 * @param nanoTime
 *   a clock for durations
 */
final class Credentials private (
    settings: CredentialSettings,
    network: Network,
    create: () => Credentials.Opened,
    owned: AutoCloseable,
    environment: String => Option[String],
    nanoTime: () => Long
) extends RenewableCredentials {
  import Credentials._

  private val resolver: ExecutorService = newResolver()

  // Guarded by this instance.
  private var source = new Source(create)
  private var running = Option.empty[CompletableFuture[AwsCredentialsIdentity]]
  private var renewedNanos = Option.empty[Long]
  private var isClosed = false

  @volatile private var hasFailed = false
  @volatile private var renewed = 0
  @volatile private var lastKeyId = ""

  override def identityType: Class[AwsCredentialsIdentity] = classOf[AwsCredentialsIdentity]

  override def resolveIdentity(request: ResolveIdentityRequest): CompletableFuture[AwsCredentialsIdentity] =
    synchronized {
      if (hasFailed && renew(renewed)) hasFailed = false
      settings match {
        case static: CredentialSettings.Static => CompletableFuture.completedFuture(noted(keysOf(static)))
        // The provider may read files, call the metadata service or call STS. The caller's thread must not block.
        case _ =>
          val current = running.filterNot(_.isDone).getOrElse {
            val from = source
            val begun = CompletableFuture.supplyAsync[AwsCredentialsIdentity](() => resolve(from), resolver)
            running = Some(begun)
            begun
          }
          current.copy()
      }
    }

  private def resolve(from: Source): AwsCredentialsIdentity =
    try noted(BlockingHttpClient.within(network)(from.provider.resolveCredentials))
    catch {
      case error: Exception =>
        // Some providers keep their failure.
        hasFailed = true
        throw CredentialsFailure.of(error)
    }

  /** After this, no log line and no error repeats the secrets. */
  private def noted(identity: AwsCredentials): AwsCredentialsIdentity = {
    lastKeyId = identity.accessKeyId
    Redaction.remember(identity.secretAccessKey)
    identity match {
      case temporary: AwsSessionCredentials => Redaction.remember(temporary.sessionToken)
      case _ => ()
    }
    identity
  }

  override def renewals: Int = renewed

  override def accessKeyId: String = lastKeyId

  override def canChange(isOfSts: Boolean): Boolean =
    (if (isOfSts) CredentialSettings.firstOf(settings) else settings) match {
      case _: CredentialSettings.Static => false
      // The variables of this process do not change.
      case CredentialSettings.DefaultChain => !environment(KeyVariable).contains(lastKeyId)
      case _ => true
    }

  override def renew(seen: Int): Boolean = synchronized {
    val now = nanoTime()
    if (seen != renewed) true
    else if (isClosed || renewedNanos.exists(now - _ < RenewalPeriod.toNanos)) false
    else {
      val old = source
      source = new Source(create)
      running = None
      renewedNanos = Some(now)
      renewed += 1
      resolver.execute(() => old.close())
      true
    }
  }

  override def close(): Unit = synchronized {
    isClosed = true
    source.close()
    owned.close()
    resolver.shutdownNow()
    ()
  }
}

object Credentials {

  /**
   * @param network
   *   the network of the calls that get credentials
   * @param clock
   *   the clock of the signatures of the calls that assume a role
   * @throws org.sparkkinesis.error.KinesisConnectorException
   *   if a class of the user cannot be instantiated
   */
  private[aws] def of(
      settings: CredentialSettings,
      region: Region,
      network: Network,
      clock: SigningClock = new SigningClock(Clock.systemUTC),
      environment: String => Option[String] = sys.env.get,
      nanoTime: () => Long = () => System.nanoTime
  ): Credentials = {
    // An executor has them from the driver.
    settings.secrets.foreach(Redaction.remember)
    val http = new StsHttp(network)
    def sts(base: AwsCredentialsProvider, endpoint: Option[String]): StsClient =
      StsClients.client(endpoint, base, region, http.client) { more =>
        // The call that needs the credentials is retried.
        more.retryStrategy(AwsRetryStrategy.doNotRetry()).addExecutionInterceptor(clock.interceptor)
        ()
      }
    val first = sourceOf(CredentialSettings.firstOf(settings), sts)
    new Credentials(settings, network, () => assumed(settings, first(), sts), http, environment, nanoTime)
  }

  /** A provider, and what is closed with it, outermost first. */
  final private case class Opened(provider: AwsCredentialsProvider, owned: Seq[AutoCloseable])

  /** A source of credentials, which is created when it is asked first. Thread-safe. */
  final private class Source(create: () => Opened) {
    private var opened = Option.empty[Opened]

    def provider: AwsCredentialsProvider = synchronized {
      val found = opened.getOrElse(create())
      opened = Some(found)
      found.provider
    }

    def close(): Unit = synchronized(opened.foreach(_.owned.foreach(_.close())))
  }

  private def keysOf(static: CredentialSettings.Static): AwsCredentials =
    static.sessionToken.fold[AwsCredentials](
      AwsBasicCredentials.create(static.accessKeyId, static.secretAccessKey)
    )(AwsSessionCredentials.create(static.accessKeyId, static.secretAccessKey, _))

  /** Creates a client of STS with the credentials of the caller. */
  private type NewSts = (AwsCredentialsProvider, Option[String]) => StsClient

  /** The HTTP client of all clients of STS, because it takes seconds to close one. Thread-safe. */
  final private class StsHttp(network: Network) extends AutoCloseable {
    private var opened = Option.empty[BlockingHttpClient]

    def client: BlockingHttpClient = synchronized {
      val found = opened.getOrElse(BlockingHttpClient.of(network))
      opened = Some(found)
      found
    }

    override def close(): Unit = synchronized(opened.foreach(_.close()))
  }

  private def sourceOf(settings: CredentialSettings, sts: NewSts): () => Opened =
    settings match {
      case static: CredentialSettings.Static =>
        () => Opened(StaticCredentialsProvider.create(keysOf(static)), Nil)
      case CredentialSettings.Profile(name) => () => {
          val profile = ProfileCredentialsProvider.create(name)
          Opened(profile, Seq(profile))
        }
      case supplied: CredentialSettings.SuppliedBy =>
        val supplier = SuppliedCredentials.load(supplied)
        () => Opened(new SuppliedCredentials(supplied.className, supplier), Nil)
      case CredentialSettings.DefaultChain | _: CredentialSettings.AssumeRole => () => defaultChain(sts)
    }

  /**
   * The AWS default chain. It does not go on to the instance's role if a container or a web identity has credentials of
   * its own: while its endpoint gives none, calls would have the identity of the node.
   */
  private def defaultChain(newSts: NewSts): Opened = {
    val isContainer =
      Seq(
        SdkSystemSetting.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI,
        SdkSystemSetting.AWS_CONTAINER_CREDENTIALS_FULL_URI
      ).exists(_.getStringValue.isPresent)
    val isWebIdentity = SdkSystemSetting.AWS_WEB_IDENTITY_TOKEN_FILE.getStringValue.isPresent
    if (!isContainer && !isWebIdentity) {
      val chain = DefaultCredentialsProvider.builder().build()
      Opened(chain, Seq(chain))
    } else {
      val sts = Option.when(isWebIdentity)(newSts(AnonymousCredentialsProvider.create(), None))
      val webIdentity = sts.map(StsWebIdentityTokenFileCredentialsProvider.builder().stsClient(_).build())
      val providers = Seq[AwsCredentialsProvider](
        SystemPropertyCredentialsProvider.create(),
        EnvironmentVariableCredentialsProvider.create()
      ) ++ webIdentity ++ Seq(ProfileCredentialsProvider.create(), ContainerCredentialsProvider.create())
      val chain = AwsCredentialsProviderChain.builder().credentialsProviders(providers.asJava).build()
      Opened(chain, chain +: sts.toSeq)
    }
  }

  private def assumed(settings: CredentialSettings, first: Opened, sts: NewSts): Opened = settings match {
    case role: CredentialSettings.AssumeRole => assumeRole(role, assumed(role.base, first, sts), sts)
    case _ => first
  }

  private def assumeRole(role: CredentialSettings.AssumeRole, base: Opened, sts: NewSts): Opened = {
    val client = sts(base.provider, role.stsEndpoint)
    val request = AssumeRoleRequest.builder().roleArn(role.roleArn).roleSessionName(role.sessionName)
    role.externalId.foreach(request.externalId)
    val provider = StsAssumeRoleCredentialsProvider
      .builder()
      .stsClient(client)
      .refreshRequest(request.build())
      .asyncCredentialUpdateEnabled(true)
      .build()
    Opened(provider, Seq(provider, client) ++ base.owned)
  }

  /** Minimum time between two renewals. Many calls may be refused at the same time, and STS limits its calls. */
  val RenewalPeriod: FiniteDuration = 1.second

  private val KeyVariable = "AWS_ACCESS_KEY_ID"

  /** Number of threads of a client. One resolves; the other is for the next source while the old one is stuck. */
  private val Threads = 2

  private def newResolver(): ExecutorService = {
    val threads = DaemonThreads.named("kinesis-credentials")
    val waiting = new LinkedBlockingQueue[Runnable]
    val pool = new ThreadPoolExecutor(Threads, Threads, 30, TimeUnit.SECONDS, waiting, threads)
    pool.allowCoreThreadTimeOut(true)
    pool
  }
}
