package org.sparkkinesis.spark.coordinator.cluster

import scala.concurrent.Await
import scala.concurrent.duration.Duration

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{
  SparkListener,
  SparkListenerBlockManagerAdded,
  SparkListenerExecutorAdded,
  SparkListenerExecutorRemoved
}
import org.apache.spark.sparkkinesis.ClusterRpc

import org.sparkkinesis.spark.executor.ConsumerHosts
import org.sparkkinesis.spark.protocol.{DriverHandler, Endpoint}
import org.sparkkinesis.spark.settings.ReadSettings

/** The executors of a Spark application. A small Spark job starts the consumers. */
final class SparkCluster(context: SparkContext) extends ExecutorCluster {
  import SparkCluster._

  override def open(name: String, handler: DriverHandler): Endpoint = ClusterRpc.openOnDriver(name, handler)

  override def executors: Seq[ExecutorPlace] =
    ClusterRpc.executors(context).map { case (id, host) => ExecutorPlace(id, host) }

  override def slots: Int = ClusterRpc.slots(context)

  override def location(place: ExecutorPlace): String = ClusterRpc.location(place.host, place.id)

  override def startConsumers(sourceId: String, settings: ReadSettings, places: Seq[ExecutorPlace]): Unit = {
    val targets = if (places.isEmpty) Seq(None) else places.map(place => Some(location(place)))
    // This thread inherited the local properties of the query's thread. They must not mark this job as part of a
    // batch.
    Inherited.foreach(context.setLocalProperty(_, null))
    context.setLocalProperty("spark.job.description", "kinesis: start shard consumers")
    val job = new PlacedTasks(context, targets).foreachAsync(_ => ConsumerHosts.ofJvm.ensureStarted(sourceId, settings))
    try Await.result(job, Duration.Inf)
    catch {
      case stopped: InterruptedException =>
        job.cancel()
        throw stopped
    }
  }

  override def listen(onAdded: () => Unit, onRemoved: String => Unit): AutoCloseable = {
    val listener = new SparkListener {
      override def onExecutorAdded(event: SparkListenerExecutorAdded): Unit = onAdded()

      // Only this event shows where the executor can be reached.
      override def onBlockManagerAdded(event: SparkListenerBlockManagerAdded): Unit = onAdded()
      override def onExecutorRemoved(event: SparkListenerExecutorRemoved): Unit = onRemoved(event.executorId)
    }
    new SessionListener(context, listener)
  }
}

private object SparkCluster {
  private val Inherited = Seq(
    "spark.jobGroup.id",
    "spark.job.tags",
    "spark.sql.execution.id",
    "spark.sql.execution.root.id",
    "spark.scheduler.pool"
  )
}
