package org.sparkkinesis.emulator.engine

import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.sparkkinesis.emulator.engine.quota.QuotaPolicy
import org.sparkkinesis.emulator.engine.shard.MemoryBudget
import org.sparkkinesis.emulator.engine.stream.{StreamHost, StreamStore}
import org.sparkkinesis.emulator.engine.time.{EmulatorClock, Timers}

/** How long the service takes for its changes; milliseconds on the emulator's clock. */
final case class ChangeDelays(create: Long, update: Long, delete: Long, consumer: Long)

/** What all accounts and regions of one emulator share: clock, quotas, memory. Knows nothing of the wire. */
final class Engine(
    val clock: EmulatorClock,
    initialPolicy: QuotaPolicy,
    val delays: ChangeDelays,
    val budget: MemoryBudget,
    val store: StreamStore
) extends StreamHost
    with AutoCloseable {
  @volatile var policy: QuotaPolicy = initialPolicy
  val timers = new Timers(clock)
  private val namespaces = new ConcurrentHashMap[(String, String), Namespace]

  /** The streams of one account in one region. */
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
  }
}

object Engine {

  /** How often what is out of retention is dropped from memory; reads never see it, even before. */
  private val SweepMillis = 60000L
}
