package org.sparkkinesis.aws.client

import java.lang.ref.Cleaner
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.{ScheduledThreadPoolExecutor, TimeUnit}

import scala.collection.mutable
import scala.concurrent.duration._

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
    later: (FiniteDuration, () => Unit) => Unit
) {
  final private class Entry(val service: KinesisService) {
    var users = 0

    /** Counts the times it became idle; a closing that was arranged for an earlier one is void. */
    var idleSince = 0L
  }

  private val entries = mutable.HashMap.empty[ClientSettings, Entry]

  def acquire(settings: ClientSettings): ClientLease = {
    val entry = synchronized {
      val entry = entries.getOrElseUpdate(settings, new Entry(create(settings)))
      entry.users += 1
      entry
    }
    new ClientLease(entry.service, () => release(settings, entry))
  }

  /** How many clients there are, in use or idle. */
  def size: Int = synchronized(entries.size)

  private def release(settings: ClientSettings, entry: Entry): Unit = synchronized {
    entry.users -= 1
    if (entry.users == 0) {
      entry.idleSince += 1
      val mark = entry.idleSince
      later(idleTime, () => closeIdle(settings, entry, mark))
    }
  }

  private def closeIdle(settings: ClientSettings, entry: Entry, mark: Long): Unit = {
    val idle = synchronized {
      val isIdle = entry.users == 0 && entry.idleSince == mark
      if (isIdle) entries -= settings
      isIdle
    }
    if (idle) entry.service.close()
  }
}

object KinesisClients {
  private val IdleTime = 60.seconds

  private lazy val timer = {
    val pool = new ScheduledThreadPoolExecutor(1, DaemonThreads.named("kinesis-clients"))
    pool.setRemoveOnCancelPolicy(true)
    pool
  }

  /** The one that the connector uses. */
  lazy val shared: KinesisClients = new KinesisClients(
    SdkClients.create,
    IdleTime,
    (delay, task) => {
      timer.schedule((() => task()): Runnable, delay.toMillis, TimeUnit.MILLISECONDS)
      ()
    }
  )

  private[aws] val cleaner = Cleaner.create()
}

/** The right to use a shared client until closed; closing twice does no harm. Do not close the service itself. */
final class ClientLease private[aws] (val service: KinesisService, release: () => Unit) extends ServiceLease {
  private val giveBack = new ClientLease.GiveBack(release)
  private val cleanable = KinesisClients.cleaner.register(this, giveBack)

  override def close(): Unit = cleanable.clean()
}

private object ClientLease {

  /** Must not refer to the lease, which could then never be collected. */
  final private class GiveBack(release: () => Unit) extends Runnable {
    private val isDone = new AtomicBoolean
    override def run(): Unit = if (isDone.compareAndSet(false, true)) release()
  }
}
