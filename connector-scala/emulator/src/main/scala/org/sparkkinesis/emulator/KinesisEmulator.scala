package org.sparkkinesis.emulator

import java.util.concurrent.atomic.AtomicBoolean

import org.sparkkinesis.emulator.admin.EmulatorAdmin
import org.sparkkinesis.emulator.count.CallCounters
import org.sparkkinesis.emulator.engine.quota.QuotaPolicy
import org.sparkkinesis.emulator.engine.shard.MemoryBudget
import org.sparkkinesis.emulator.engine.stream.StreamStore
import org.sparkkinesis.emulator.engine.{ChangeDelays, Engine}
import org.sparkkinesis.emulator.fault.Faults
import org.sparkkinesis.emulator.store.FileStore
import org.sparkkinesis.emulator.wire.Dispatcher
import org.sparkkinesis.emulator.wire.auth.{Gatekeeper, TokenService}
import org.sparkkinesis.emulator.wire.http.{HttpServer, ServerCertificate}
import org.sparkkinesis.emulator.wire.page.{AdminPages, PageAccess}

/**
 * A Kinesis Data Streams service in this process, on one loopback port: HTTP/1.1, HTTP/2 and TLS, CBOR and JSON, with
 * the service's rules, errors and quotas. Ready when `start` returns; `close` ends its threads and forgets its streams.
 */
final class KinesisEmulator private (config: EmulatorConfig) extends AutoCloseable {
  private val closed = new AtomicBoolean
  private val fileStore = config.directory.map(new FileStore(_))
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
    fileStore.getOrElse(StreamStore.None)
  )
  fileStore.foreach(_.load(engine))
  private val home = engine.namespace(config.account, config.region)
  private val certificate = if (config.tls) Some(ServerCertificate.create()) else None

  /** How often each operation was called. */
  val calls = new CallCounters

  /** What is to go wrong. */
  val faults = new Faults(config.clock)

  /** What tests do past the API. */
  val admin = new EmulatorAdmin(home, faults)

  /** The token that requests for the pages must carry; empty without configured credentials, when everyone may use them. */
  val adminToken: Option[String] = Option.when(config.credentials.nonEmpty)(PageAccess.newToken())

  private val gatekeeper = new Gatekeeper(engine, home, config.credentials, config.roles)
  private val dispatcher = new Dispatcher(
    engine,
    gatekeeper,
    new TokenService(gatekeeper, config.clock),
    faults,
    calls,
    new AdminPages(engine, calls, admin, new PageAccess(adminToken))
  )
  private val server =
    try new HttpServer(config.port, config.threads, dispatcher, config.http2, certificate)
    catch {
      case e: Throwable =>
        engine.close()
        throw e
    }

  def port: Int = server.address.getPort
  def endpoint: String = s"${if (config.tls) "https" else "http"}://127.0.0.1:$port"
  def region: String = config.region

  /** The certificate that clients are to trust, as PEM text; empty without TLS. */
  def certificatePem: String = certificate.fold("")(_.pem)

  override def close(): Unit = if (closed.compareAndSet(false, true)) {
    server.close()
    engine.close()
  }
}

object KinesisEmulator {
  def start(config: EmulatorConfig = EmulatorConfig()): KinesisEmulator = new KinesisEmulator(config)
}
