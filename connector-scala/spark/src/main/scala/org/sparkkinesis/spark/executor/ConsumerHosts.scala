package org.sparkkinesis.spark.executor

import java.util.concurrent.{ConcurrentHashMap, TimeoutException}

import org.apache.spark.SparkException
import org.apache.spark.sparkkinesis.ClusterRpc

import org.sparkkinesis.consume.PrefetchMemory
import org.sparkkinesis.event.CoordinatorUnreachable
import org.sparkkinesis.spark.connection.Environment
import org.sparkkinesis.spark.protocol.ExecutorWire
import org.sparkkinesis.spark.settings.ReadSettings

/** Holds the consumers of every running source in one executor, by source id. Thread-safe. */
final class ConsumerHosts(wire: ExecutorWire, environment: Environment) {
  private val memory = PrefetchMemory.ofHeap(environment.heapBytes)
  private val hosts = new ConcurrentHashMap[String, ConsumerHost]

  /**
   * Starts the source's consumers in this executor, unless they run already, and registers them with the coordinator.
   *
   * A coordinator that cannot be found has ended or will retry; other executors read its shards until then.
   */
  def ensureStarted(sourceId: String, settings: ReadSettings): Unit = {
    var started: Option[ConsumerHost] = None
    try {
      val host = hosts.computeIfAbsent(
        sourceId,
        _ => {
          val fresh = new ConsumerHost(sourceId, settings, wire, environment, memory, hosts.remove(sourceId, _): Unit)
          started = Some(fresh)
          fresh
        }
      )
      host.introduce()
      started.foreach(_.watchDriver())
    } catch {
      // A timeout of Spark's RPC is not a SparkException.
      case gone @ (_: SparkException | _: TimeoutException) =>
        environment.events(settings.query).emit(CoordinatorUnreachable(wire.executorId, gone.getMessage))
        started.foreach(_.close())
    }
  }

  /** Id and host of this executor. */
  def place: (String, String) = (wire.executorId, wire.executorHost)

  /** Returns the source's consumers if they run in this executor. */
  def find(sourceId: String): Option[ConsumerHost] = Option(hosts.get(sourceId))
}

object ConsumerHosts {

  /** The consumers of this JVM. */
  val ofJvm = new ConsumerHosts(ClusterRpc.OfExecutor, Environment.OfJvm)

  /** Returns the name of the source's RPC endpoint on the driver. */
  def coordinatorName(sourceId: String): String = s"kinesis-source-$sourceId"
}
