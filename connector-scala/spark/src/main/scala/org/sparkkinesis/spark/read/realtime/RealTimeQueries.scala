package org.sparkkinesis.spark.read.realtime

import scala.collection.mutable

/** The running real-time sources of a driver, by the ids of their queries' runs. Thread-safe. */
final private[sparkkinesis] class RealTimeQueries {
  private val sources = mutable.HashMap.empty[String, Set[RealTimeQuery]]

  private[realtime] def add(runId: Option[String], source: RealTimeQuery): Unit = synchronized {
    runId.foreach(id => sources(id) = sources.getOrElse(id, Set.empty) + source)
  }

  private[realtime] def remove(runId: Option[String], source: RealTimeQuery): Unit = synchronized {
    runId.foreach { id =>
      val left = sources.getOrElse(id, Set.empty) - source
      if (left.isEmpty) sources -= id else sources(id) = left
    }
  }

  /** Ends the current batch of the query. Each future completes when a source reads nothing more. */
  def drain(runId: String): Seq[java.util.concurrent.CompletableFuture[Unit]] =
    synchronized(sources.getOrElse(runId, Set.empty).toVector).map(_.drain())
}

private[sparkkinesis] object RealTimeQueries {
  val ofJvm: RealTimeQueries = new RealTimeQueries
}
