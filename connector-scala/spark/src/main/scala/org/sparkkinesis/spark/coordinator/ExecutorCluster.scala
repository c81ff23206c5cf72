package org.sparkkinesis.spark.coordinator

import org.sparkkinesis.spark.protocol.{DriverHandler, Endpoint}
import org.sparkkinesis.spark.settings.ReadSettings

/** One executor that can run tasks. */
final case class ExecutorPlace(id: String, host: String)

/** The application's executors, as the driver reaches them. */
trait ExecutorCluster {

  /** Opens the driver's endpoint that executors find by this name. */
  def open(name: String, handler: DriverHandler): Endpoint

  /** Every executor that can run tasks now. */
  def executors: Seq[ExecutorPlace]

  /** The executor as Spark's scheduler takes it for the preferred place of a task. */
  def location(place: ExecutorPlace): String

  /**
   * Starts the source's consumers in these executors, or in any one when there are none, and waits for that as long as it takes. A
   * place is a preference only.
   */
  def startConsumers(sourceId: String, settings: ReadSettings, places: Seq[ExecutorPlace]): Unit

  /** Tells when an executor was added, and the id of one that was removed, until what it returns is closed. */
  def listen(onAdded: () => Unit, onRemoved: String => Unit): AutoCloseable
}
