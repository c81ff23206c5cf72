package org.sparkkinesis.emulator

import java.util.concurrent.atomic.AtomicBoolean

import org.sparkkinesis.emulator.access.AccessPolicies
import org.sparkkinesis.emulator.admin.{EmulatorAdmin, PublishedMetadata}
import org.sparkkinesis.emulator.count.CallCounters
import org.sparkkinesis.emulator.engine.quota.QuotaPolicy
import org.sparkkinesis.emulator.engine.shard.MemoryBudget
import org.sparkkinesis.emulator.engine.stream.StreamStore
import org.sparkkinesis.emulator.engine.{ChangeDelays, Engine}
import org.sparkkinesis.emulator.fault.Faults
import org.sparkkinesis.emulator.store.{DeliveryFiles, FileStore}
import org.sparkkinesis.emulator.wire.Dispatcher
import org.sparkkinesis.emulator.wire.auth.{EmulatorSession, Gatekeeper, TokenService}
import org.sparkkinesis.emulator.wire.http.{HttpDates, HttpServer, ServerCertificate}
import org.sparkkinesis.emulator.wire.page.{AdminPages, MetadataPage, PageAccess}

/**
 * A Kinesis Data Streams service in this process, on one port, which also serves what a writer needs of Amazon Data
 * Firehose. It speaks HTTP/1.1, HTTP/2 and TLS with CBOR and JSON, and enforces the rules, errors and quotas of the
 * service. It is ready when `start` returns. `close` ends its threads and removes its streams, unless they are kept in
 * a directory.
 */
final class KinesisEmulator private (config: EmulatorConfig) extends AutoCloseable {
  private val listensOn = ListenAddress.of(config)
  private val closed = new AtomicBoolean
  private val fileStore = config.directory.map(new FileStore(_))
  private val deliveries = new DeliveryFiles(config.deliveries)
  private val engine = new Engine(
    config.clock,
    config.quotaScales.foldLeft(if (config.quotas) QuotaPolicy.Service else QuotaPolicy.Off) {
      case (policy, (quota, by)) =>
        policy.scaled(quota, by)
    },
    ChangeDelays(
      config.changeDelay.toMillis,
      config.changeDelay.toMillis,
      config.changeDelay.toMillis,
      config.changeDelay.toMillis
    ),
    new MemoryBudget(config.memoryCapBytes),
    fileStore.getOrElse(StreamStore.None),
    deliveries
  )
  fileStore.foreach(_.load(engine))
  private val home = engine.namespace(config.account, config.region)
  private val certificate = if (config.tls) Some(ServerCertificate.create(listensOn.certificateNames)) else None

  /** Counts the calls of each operation. */
  val calls = new CallCounters

  /** The faults that calls meet. */
  val faults = new Faults(config.clock)

  private val policies = new AccessPolicies

  /** Changes streams, time, faults and quotas directly, without calls of the API. */
  val admin = new EmulatorAdmin(home, faults, new PublishedMetadata, policies)

  /**
   * The token that requests for the pages must carry. It is empty without configured credentials; then no token is
   * needed.
   */
  val adminToken: Option[String] = Option.when(config.credentials.nonEmpty)(PageAccess.newToken())

  private val gatekeeper = new Gatekeeper(engine, home, config.credentials, config.roles, policies, config.checksTime)
  private val dispatcher = new Dispatcher(
    engine,
    gatekeeper,
    new TokenService(gatekeeper, config.clock, faults),
    faults,
    calls,
    new AdminPages(engine, calls, admin, new PageAccess(adminToken, listensOn.isLoopback)),
    new MetadataPage(engine, admin.metadata, faults, calls)
  )
  private val server =
    try {
      val dates = new HttpDates(() => config.clock.millis)
      new HttpServer(listensOn.socket, config.threads, dispatcher, config.http2, certificate, dates)
    } catch {
      case e: Throwable =>
        engine.close()
        throw e
    }

  def port: Int = server.address.getPort
  def endpoint: String = s"${if (config.tls) "https" else "http"}://${listensOn.reachedAt}:$port"
  def region: String = config.region

  /** Creates temporary credentials of the emulator's account, as the services do that give them to containers. */
  def createSession(): EmulatorSession = {
    val (id, secret, token) =
      gatekeeper.issue(s"arn:aws:iam::${config.account}:role/container", "container", Long.MaxValue)
    EmulatorSession(id, secret, token)
  }

  /** Expires all temporary credentials that exist, also those of assumed roles. */
  def expireSessions(): Unit = gatekeeper.expireSessions()

  /** The address of the page that serves the document of [[EmulatorAdmin.setMetadata]]. */
  def metadataUrl: String = s"$endpoint${MetadataPage.Path}"

  /** The certificate that clients must trust, as PEM text; empty without TLS. */
  def certificatePem: String = certificate.fold("")(_.pem)

  /** The folder of the files of delivery streams. */
  def deliveryFolder: java.nio.file.Path = deliveries.root

  override def close(): Unit = if (closed.compareAndSet(false, true)) {
    server.close()
    engine.close()
  }
}

object KinesisEmulator {
  def start(config: EmulatorConfig = EmulatorConfig()): KinesisEmulator = new KinesisEmulator(config)
}
