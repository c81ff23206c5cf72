package org.sparkkinesis.spark.coordinator.cluster

import scala.util.control.NonFatal

import org.sparkkinesis.event.ConsumersNotStarted
import org.sparkkinesis.spark.connection.Environment
import org.sparkkinesis.spark.settings.ReadSettings

/**
 * Starts a source's consumers in executors that have none, with a small Spark job whose tasks prefer those executors.
 *
 * The job waits for free task slots while a batch uses them, so it runs on its own thread. Preferred locations are
 * not binding: Spark runs a task elsewhere if the executor has just been added or is busy for long. The starter
 * retries such an executor, first after a short pause, then after increasing pauses of at most one period.
 *
 * @param isKnown
 *   whether an executor's consumers have registered
 * @param onFailure
 *   receives the error when starting has failed several times in a row
 */
final private[coordinator] class ConsumerStarter(
    cluster: ExecutorCluster,
    sourceId: String,
    settings: ReadSettings,
    environment: Environment,
    periodMillis: Long,
    isKnown: String => Boolean,
    onFailure: Throwable => Unit
) extends AutoCloseable {
  import ConsumerStarter._

  private val loop = new BackgroundLoop(
    environment.scheduler(s"kinesis-start-$sourceId", 1),
    periodMillis,
    onFailure
  )(_ => round())

  /** Executors in which a job did not start consumers, with the number of attempts. */
  private var missed = Map.empty[String, Int]
  private var failures = 0

  /** Starts a search for executors without consumers. */
  def wake(): Unit = loop.wake()

  override def close(): Unit = loop.close()

  private def round(): Unit = {
    val executors = cluster.executors
    val missing = executors.filterNot(place => isKnown(place.id))
    // If no executor is known, the job waits for one and runs wherever Spark schedules it.
    if (missing.nonEmpty || executors.isEmpty)
      try {
        cluster.startConsumers(sourceId, settings, missing)
        failures = 0
      } catch {
        case NonFatal(failure) =>
          failures += 1
          if (failures >= FailuresToGiveUp) throw failure
          environment.events(settings.query).emit(ConsumersNotStarted(failures, failure))
      }
    // An executor whose task ran elsewhere has not registered. Executors without a task slot still hold the job up.
    missed = missing.map(_.id).filterNot(isKnown).map(id => id -> (missed.getOrElse(id, 0) + 1)).toMap
    missed.valuesIterator.minOption.foreach(times =>
      loop.wakeIn(math.min(periodMillis, RetryMillis << math.min(times - 1, 10)))
    )
  }
}

private object ConsumerStarter {

  /** The job can fail because an executor was lost. Repeated failures indicate a configuration error. */
  private val FailuresToGiveUp = 4

  /** The pause before the first retry in milliseconds. Each further pause is twice as long. */
  private val RetryMillis = 250L
}
