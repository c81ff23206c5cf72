package org.sparkkinesis.spark.coordinator.cluster

import org.sparkkinesis.spark.protocol.{DriverHandler, Endpoint}
import org.sparkkinesis.spark.settings.ReadSettings

/** An executor that can run tasks. */
final case class ExecutorPlace(id: String, host: String)

/** Gives the driver access to the application's executors. */
trait ExecutorCluster {

  /** Opens the driver's endpoint under this name. */
  def open(name: String, handler: DriverHandler): Endpoint

  /** Returns every executor that can run tasks now. */
  def executors: Seq[ExecutorPlace]

  /** Returns the number of tasks that can run at once on all executors. */
  def slots: Int

  /** Returns the executor in the form in which Spark's scheduler accepts a preferred location. */
  def location(place: ExecutorPlace): String

  /**
   * Starts the source's consumers in these executors, or in any executor if `places` is empty, and waits until they
   * have started. The places are preferences only.
   */
  def startConsumers(sourceId: String, settings: ReadSettings, places: Seq[ExecutorPlace]): Unit

  /**
   * Calls `onAdded` after an executor was added, and `onRemoved` with the id of an executor that was removed, until
   * the returned value is closed.
   */
  def listen(onAdded: () => Unit, onRemoved: String => Unit): AutoCloseable
}
