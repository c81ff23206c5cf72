package org.sparkkinesis.spark.coordinator

import scala.util.control.NonFatal

import org.sparkkinesis.event.ConsumersNotStarted
import org.sparkkinesis.spark.connection.Environment
import org.sparkkinesis.spark.settings.ReadSettings

/**
 * Brings a source's consumers up in executors that have none, by a small job whose tasks prefer them.
 *
 * The job waits for free slots as long as a batch holds them, and so has a thread of its own: nothing else waits for it. A preference
 * is no more than that: Spark runs a task elsewhere when it does not offer the executor yet, as just after it came, or when the executor is
 * busy for long. Such an executor is tried again soon, at first, and at longest after the period.
 *
 * @param isKnown
 *   whether an executor's consumers have introduced themselves
 * @param onFailure
 *   is told when starting has failed several times in a row
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

  /** Executors that a job was sent to in vain, with how often. */
  private var missed = Map.empty[String, Int]
  private var failures = 0

  /** Looks for executors without consumers. */
  def wake(): Unit = loop.wake()

  override def close(): Unit = loop.close()

  private def round(): Unit = {
    val executors = cluster.executors
    val missing = executors.filterNot(place => isKnown(place.id))
    // With no executor known the job waits for one, and runs wherever Spark puts it.
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
    // Those whose task ran elsewhere have not introduced themselves; a job waits for the others.
    missed = missing.map(_.id).filterNot(isKnown).map(id => id -> (missed.getOrElse(id, 0) + 1)).toMap
    missed.valuesIterator.minOption.foreach(times =>
      loop.wakeIn(math.min(periodMillis, RetryMillis << math.min(times - 1, 10)))
    )
  }
}

private object ConsumerStarter {

  /** Executors that die take the job with them; what fails again and again is a mistake in the set-up. */
  private val FailuresToGiveUp = 4

  /** Until the first new try; each of the next waits twice as long as the one before. */
  private val RetryMillis = 250L
}
