package org.sparkkinesis.aws.client

import java.lang.ref.Cleaner

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.Shared
import org.sparkkinesis.service.{KinesisService, ServiceLease}

/**
 * What determines the identity of calls: the settings, and the class that gives the credentials. Sessions may have
 * different classes of one name.
 */
final case class ClientKey(settings: ClientSettings, provider: Option[Class[_]])

object ClientKey {

  /**
   * Finds the class with the context class loader.
   *
   * @throws org.sparkkinesis.error.KinesisConnectorException
   *   if there is no such class
   */
  def of(settings: ClientSettings): ClientKey = ClientKey(
    settings,
    CredentialSettings.firstOf(settings.credentials) match {
      case supplied: CredentialSettings.SuppliedBy => Some(SuppliedCredentials.classOf(supplied.className))
      case _ => None
    }
  )
}

/**
 * Shares clients between all users in this JVM that have equal settings: tasks, consumers and queries. It closes a
 * client that was idle for `idleTime`. Thread-safe.
 *
 * A lease that its owner did not close is returned when it is garbage collected, so that unclosed leases do not
 * accumulate.
 */
final class ServiceClients[S <: AutoCloseable](
    create: ClientSettings => S,
    idleTime: FiniteDuration,
    later: Shared.Later
) {
  private val clients = new Shared[ClientKey, S](key => create(key.settings), _.close(), idleTime, later)

  def acquire(settings: ClientSettings): ClientLease[S] = {
    val held = clients.acquire(ClientKey.of(settings))
    new ClientLease(held.value, () => held.close())
  }

  /** Number of clients, in use or idle. */
  def size: Int = clients.size
}

object ServiceClients {

  /**
   * Time for which a client without users stays open, so that the next micro-batch finds it. The system property
   * `org.sparkkinesis.clients.idle`, such as `1s`, sets another one.
   */
  private def idleTime: FiniteDuration = sys.props.get("org.sparkkinesis.clients.idle").map(Duration(_)).collect {
    case time: FiniteDuration => time
  }.getOrElse(60.seconds)

  private[client] val cleaner = Cleaner.create()

  /** Creates an instance for this JVM, one for each service. */
  def ofJvm[S <: AutoCloseable](create: ClientSettings => S): ServiceClients[S] =
    new ServiceClients[S](create, idleTime, Shared.onTimer)
}

object KinesisClients {

  /** The instance that the connector uses. */
  lazy val shared: ServiceClients[KinesisService] = ServiceClients.ofJvm(SdkClients.adaptive(_))
}

/**
 * Permission to use a shared client until `close`. A second `close` has no effect. The holder must not close `service`.
 */
final class ClientLease[+S] private[aws] (val service: S, release: () => Unit) extends ServiceLease[S] {
  private val cleanable = ServiceClients.cleaner.register(this, ClientLease.releaseTask(release))

  override def close(): Unit = cleanable.clean()
}

private object ClientLease {

  /** The returned task must not refer to the lease; otherwise the lease would never be garbage collected. */
  private def releaseTask(release: () => Unit): Runnable = () => release()
}
