package org.sparkkinesis.spark.cluster

import scala.concurrent.Await
import scala.concurrent.duration.Duration
import scala.util.control.NonFatal

import org.apache.spark.SparkContext
import org.apache.spark.sparkkinesis.ClusterRpc
import org.slf4j.LoggerFactory

import org.sparkkinesis.spark.read.ReadSettings

/**
 * Brings a source's consumers up in executors that have none, by a small job whose tasks prefer them.
 *
 * The job waits for free slots as long as a batch holds them, and so has a thread of its own: nothing else waits for it. An executor that
 * did not answer is tried again after the period.
 *
 * @param isKnown
 *   whether an executor's consumers have introduced themselves
 * @param onFailure
 *   is told when starting has failed several times in a row
 */
final private[cluster] class ConsumerStarter(
    context: SparkContext,
    sourceId: String,
    settings: ReadSettings,
    periodMillis: Long,
    isKnown: String => Boolean,
    onFailure: Throwable => Unit
) extends AutoCloseable {
  import ConsumerStarter._

  private val loop = new PlacementLoop(s"kinesis-start-$sourceId", periodMillis, onFailure)(round)

  /** Executors that a job was sent to in this period. */
  private var attempted = Set.empty[String]
  private var failures = 0

  /** Looks for executors without consumers. */
  def wake(): Unit = loop.wake()

  override def close(): Unit = loop.close()

  private def round(isPeriodOver: Boolean): Unit = {
    if (isPeriodOver) attempted = Set.empty
    val executors = ClusterRpc.executors(context)
    val missing = executors.filterNot { case (id, _) => isKnown(id) || attempted(id) }
    attempted ++= missing.map(_._1)
    // With no executor known the job waits for one, and runs wherever Spark puts it.
    if (missing.nonEmpty || executors.isEmpty)
      try {
        start(missing)
        failures = 0
      } catch {
        case NonFatal(failure) =>
          failures += 1
          if (failures >= FailuresToGiveUp) throw failure
          log.warn(s"Consumers of source $sourceId could not be started; they will be tried again", failure)
          attempted = attempted -- missing.map(_._1)
      }
  }

  private def start(targets: Seq[(String, String)]): Unit = {
    val (id, to) = (sourceId, settings)
    val places = if (targets.isEmpty) Seq((0, Seq.empty[String]))
    else targets.zipWithIndex.map { case ((executor, host), i) => (i, Seq(ClusterRpc.location(host, executor))) }
    // The thread was made by the query's and inherited what marks its jobs; this one is not part of a batch.
    Inherited.foreach(context.setLocalProperty(_, null))
    context.setLocalProperty("spark.job.description", "kinesis: start shard consumers")
    val job = context.makeRDD(places).foreachAsync(_ => ConsumerHost.ensureStarted(id, to))
    try Await.result(job, Duration.Inf)
    catch {
      case stopped: InterruptedException =>
        job.cancel()
        throw stopped
    }
  }
}

private object ConsumerStarter {
  private val log = LoggerFactory.getLogger(classOf[ConsumerStarter])

  /** Executors that die take the job with them; what fails again and again is a mistake in the set-up. */
  private val FailuresToGiveUp = 4

  private val Inherited = Seq(
    "spark.jobGroup.id",
    "spark.job.tags",
    "spark.sql.execution.id",
    "spark.sql.execution.root.id",
    "spark.scheduler.pool"
  )
}
