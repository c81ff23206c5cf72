package org.sparkkinesis.emulator.engine

import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.sparkkinesis.emulator.engine.delivery.DeliveryStore
import org.sparkkinesis.emulator.engine.quota.QuotaPolicy
import org.sparkkinesis.emulator.engine.shard.MemoryBudget
import org.sparkkinesis.emulator.engine.stream.{StreamHost, StreamStore}
import org.sparkkinesis.emulator.engine.time.{EmulatorClock, Timers}

/** Durations of changes of streams and consumers, in milliseconds of the emulator's clock. */
final case class ChangeDelays(create: Long, update: Long, delete: Long, consumer: Long)

/**
 * The state that all accounts and regions of an emulator share: clock, quotas and memory. It is independent of the
 * network.
 */
final class Engine(
    val clock: EmulatorClock,
    initialPolicy: QuotaPolicy,
    val delays: ChangeDelays,
    val budget: MemoryBudget,
    val store: StreamStore,
    val deliveries: DeliveryStore
) extends StreamHost
    with AutoCloseable {
  @volatile var policy: QuotaPolicy = initialPolicy
  val timers = new Timers(clock)
  private val namespaces = new ConcurrentHashMap[(String, String), Namespace]

  /** Returns the streams of one account in one region. */
  def namespace(account: String, region: String): Namespace =
    namespaces.computeIfAbsent((account, region), _ => new Namespace(account, region, this))

  def allNamespaces: Seq[Namespace] = namespaces.values.asScala.toSeq

  private def sweep(): Unit = {
    val now = clock.millis
    allNamespaces.foreach(_.streams.foreach(_.expire(now)))
    timers.after(Engine.SweepMillis)(() => sweep())
    ()
  }

  timers.after(Engine.SweepMillis)(() => sweep())

  override def close(): Unit = {
    timers.close()
    store.close()
    deliveries.close()
  }
}

object Engine {

  /** Interval at which expired records are removed from memory. Readers do not receive them before that either. */
  private val SweepMillis = 60000L
}
