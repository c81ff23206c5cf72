package org.sparkkinesis.aws.client

import java.net.URI
import java.time.{Clock, Duration}
import java.util.concurrent.Executor

import scala.annotation.tailrec

import software.amazon.awssdk.awscore.retry.AwsRetryStrategy
import software.amazon.awssdk.core.client.config.{
  ClientOverrideConfiguration,
  SdkAdvancedAsyncClientOption,
  SdkAdvancedClientOption
}
import software.amazon.awssdk.http.async.SdkAsyncHttpClient
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.{KinesisAsyncClient, KinesisAsyncClientBuilder}

import org.sparkkinesis.aws.error.ForeignAnswers
import org.sparkkinesis.aws.getrecords.GetRecordsClient
import org.sparkkinesis.aws.http.{HttpClients, ObservedHttpClient}
import org.sparkkinesis.aws.putrecords.PutRecordsClient
import org.sparkkinesis.aws.request._
import org.sparkkinesis.aws.subscription.{SdkSubscriptions, SubscriptionTransport}
import org.sparkkinesis.event.EventSink
import org.sparkkinesis.event.log.{EventLog, QueryContext}
import org.sparkkinesis.service.KinesisService

/** Creates a [[SdkKinesisService]] from settings. */
object SdkClients {

  /**
   * Creates a service that the caller owns and closes. [[KinesisClients]] shares them.
   *
   * @param events
   *   receives the events of the service
   * @throws org.sparkkinesis.error.KinesisConnectorException
   *   if no region is known
   */
  def create(settings: ClientSettings, events: EventSink = new EventLog(QueryContext.Unknown)): SdkKinesisService =
    create(settings, events, Clock.systemUTC, () => System.nanoTime)

  /**
   * @param machine
   *   clock of this machine
   * @param nanoTime
   *   clock for durations
   */
  private[aws] def create(
      settings: ClientSettings,
      events: EventSink,
      machine: Clock,
      nanoTime: () => Long
  ): SdkKinesisService = create(settings, events, machine, nanoTime, RequestEncoding.ofJvm)

  /** @param encoding encoding of requests and answers */
  private def create(
      settings: ClientSettings,
      events: EventSink,
      machine: Clock,
      nanoTime: () => Long,
      encoding: RequestEncoding
  ): SdkKinesisService = encoding.build {
    val region = Region.of(Regions.resolve(settings, "any"))
    val clock = new SigningClock(machine)
    val credentials = Credentials.of(settings.credentials, region, settings.network, clock, nanoTime = nanoTime)
    val configured = endpointSettings(settings, KinesisEndpoints.Service)
    val endpoint = configured.overridden
    val http = new ObservedHttpClient(HttpClients.forRequests(settings.network))
    val transport = HttpClients.transport(settings.network)
    val client = requests(settings, region, endpoint, credentials, clock, http)
    val endpoints = new KinesisEndpoints(region, configured)
    val identity = new CallerIdentity(credentials, clock, nanoTime)
    val pushes = HttpClients.subscriptions(settings.network)
    val signed =
      new SignedCalls(
        "kinesis",
        region.id,
        transport,
        credentials,
        clock,
        settings.network.requestTimeout,
        settings.caller
      )
    new SdkKinesisService(
      client,
      new PutRecordsClient(endpoints, signed),
      new GetRecordsClient(endpoints, signed),
      new SubscriptionTransport(endpoints, identity, pushes.value.transport, settings.caller),
      Option.when(settings.network.viaSdk)(
        new SdkSubscriptions(subscriptions(settings, region, endpoint, credentials, clock), SdkConversions.event)
      ),
      Seq(transport, pushes, credentials),
      identity,
      events,
      encoding
    )
  }

  /**
   * Creates a service that uses JSON if its endpoint supports nothing else. The caller owns and closes it.
   *
   * @throws org.sparkkinesis.error.KinesisConnectorException
   *   if no region is known
   */
  def adaptive(settings: ClientSettings, events: EventSink = new EventLog(QueryContext.Unknown)): KinesisService = {
    def ofEncoding(encoding: RequestEncoding) =
      create(settings, events, Clock.systemUTC, () => System.nanoTime, encoding)
    RequestEncoding.ofJvm match {
      case RequestEncoding.Cbor =>
        new CborOrJsonService(ofEncoding(RequestEncoding.Cbor), () => ofEncoding(RequestEncoding.Json))
      case RequestEncoding.Json => ofEncoding(RequestEncoding.Json)
    }
  }

  /**
   * Creates a client for Amazon Data Firehose. The caller owns and closes it.
   *
   * @throws org.sparkkinesis.error.KinesisConnectorException
   *   if no region is known
   */
  def firehose(settings: ClientSettings): JsonService = {
    val region = Region.of(Regions.resolve(settings, "any"))
    val clock = new SigningClock(Clock.systemUTC)
    val credentials = Credentials.of(settings.credentials, region, settings.network, clock)
    val configured = endpointSettings(settings, FirehoseEndpoint.Service)
    new JsonService(
      "firehose",
      "Firehose_20150804",
      region.id,
      () => FirehoseEndpoint.of(region, configured),
      new CallerIdentity(credentials, clock),
      HttpClients.transport(settings.network),
      settings.network.requestTimeout,
      settings.caller
    )
  }

  private def endpointSettings(settings: ClientSettings, service: String): EndpointSettings =
    new EndpointSettings(service, settings.endpoint.map(URI.create), profileOf(settings.credentials))

  /** The profile of an option, whose endpoints count as well. */
  @tailrec
  private def profileOf(credentials: CredentialSettings): Option[String] = credentials match {
    case CredentialSettings.Profile(name) => Some(name)
    case role: CredentialSettings.AssumeRole => profileOf(role.base)
    case _ => None
  }

  private def requests(
      settings: ClientSettings,
      region: Region,
      endpoint: Option[URI],
      credentials: Credentials,
      clock: SigningClock,
      http: SdkAsyncHttpClient
  ): KinesisAsyncClient = {
    val limited = overrides(settings, clock).apiCallTimeout(Duration.ofNanos(settings.network.requestTimeout.toNanos))
    // The SDK closes only an HTTP client that it created itself.
    builder(region, endpoint, credentials, limited).httpClientBuilder(new OwnedHttpClient(http)).build()
  }

  /** Creates the SDK's client for subscriptions, which last for minutes. */
  private def subscriptions(
      settings: ClientSettings,
      region: Region,
      endpoint: Option[URI],
      credentials: Credentials,
      clock: SigningClock
  ): KinesisAsyncClient =
    builder(region, endpoint, credentials, overrides(settings, clock))
      .httpClientBuilder(new OwnedHttpClient(HttpClients.sdkSubscriptions(settings.network))).build()

  private def builder(
      region: Region,
      endpoint: Option[URI],
      credentials: Credentials,
      overrides: ClientOverrideConfiguration.Builder
  ): KinesisAsyncClientBuilder = {
    val builder = KinesisAsyncClient
      .builder()
      .region(region)
      .credentialsProvider(credentials)
      .overrideConfiguration(overrides.build())
      // Futures complete on the event loop. Callers switch to their own threads at once, so a pool would add a thread
      // switch.
      .asyncConfiguration { async =>
        async.advancedOption(
          SdkAdvancedAsyncClientOption.FUTURE_COMPLETION_EXECUTOR,
          ((task: Runnable) => task.run()): Executor
        )
        ()
      }
    endpoint.foreach(builder.endpointOverride)
    builder
  }

  private def overrides(settings: ClientSettings, clock: SigningClock): ClientOverrideConfiguration.Builder = {
    val overrides = ClientOverrideConfiguration
      .builder()
      .retryStrategy(AwsRetryStrategy.doNotRetry())
      .addExecutionInterceptor(clock.interceptor)
      .addExecutionInterceptor(ForeignAnswers.Interceptor)
      .putAdvancedOption(SdkAdvancedClientOption.USER_AGENT_SUFFIX, settings.caller)
    profileOf(settings.credentials).foreach(overrides.defaultProfileName)
    overrides
  }

  final private class OwnedHttpClient(http: SdkAsyncHttpClient) extends SdkAsyncHttpClient.Builder[OwnedHttpClient] {
    override def buildWithDefaults(defaults: software.amazon.awssdk.utils.AttributeMap): SdkAsyncHttpClient = http
  }
}
