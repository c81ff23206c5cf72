package org.sparkkinesis.aws.client

import java.lang.ref.Cleaner

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.Shared
import org.sparkkinesis.service.{KinesisService, ServiceLease}

/**
 * Clients shared by everything in this JVM that has the same settings: tasks, consumers, several queries. A client is
 * closed when nobody has used it for a while. Thread-safe.
 *
 * A lease that is forgotten is given back when it is garbage collected, so that forgetting cannot pile up.
 */
final class KinesisClients(
    create: ClientSettings => KinesisService,
    idleTime: FiniteDuration,
    later: Shared.Later
) {
  private val clients = new Shared[ClientSettings, KinesisService](create, _.close(), idleTime, later)

  def acquire(settings: ClientSettings): ClientLease = {
    val held = clients.acquire(settings)
    new ClientLease(held.value, () => held.close())
  }

  /** How many clients there are, in use or idle. */
  def size: Int = clients.size
}

object KinesisClients {
  private val IdleTime = 60.seconds

  /** The one that the connector uses. */
  lazy val shared: KinesisClients = new KinesisClients(SdkClients.create, IdleTime, Shared.onTimer)

  private[aws] val cleaner = Cleaner.create()
}

/** The right to use a shared client until closed; closing twice does no harm. Do not close the service itself. */
final class ClientLease private[aws] (val service: KinesisService, release: () => Unit) extends ServiceLease {
  private val cleanable = KinesisClients.cleaner.register(this, ClientLease.giveBack(release))

  override def close(): Unit = cleanable.clean()
}

private object ClientLease {

  /** Must not refer to the lease, which could then never be collected. */
  private def giveBack(release: () => Unit): Runnable = () => release()
}
