package org.sparkkinesis.spark.metric

import scala.concurrent.duration._

import org.apache.spark.sparkkinesis.MetricsSource

import org.sparkkinesis.concurrent.Clock
import org.sparkkinesis.metric.GaugeValue

/**
 * The gauges of one owner in Spark's metrics system. They are computed when Spark reads them, at most once a second for
 * all of them, so that they cost nothing if nobody does, and are right while a query waits. Which gauges there are may
 * change, such as those of the worst shards. Thread-safe.
 *
 * @param source
 *   the name in Spark's metrics, after application and executor
 * @param compute
 *   returns the present gauges; any thread may call it
 */
final class PublishedGauges(source: String, clock: Clock, compute: () => Seq[GaugeValue]) extends AutoCloseable {
  import PublishedGauges._

  private var values = Map.empty[String, Double]
  private var computedNanos = Option.empty[Long]
  private var isClosed = false

  /** Publishes the present gauges. The next value that is read is computed again. */
  def changed(): Unit = synchronized {
    computedNanos = None
    refresh()
    computedNanos = None
  }

  private def value(path: String): Double = synchronized {
    refresh()
    values.getOrElse(path, 0.0)
  }

  private def refresh(): Unit = if (!isClosed && computedNanos.forall(clock.nanoTime - _ >= MaxAge.toNanos)) {
    computedNanos = Some(clock.nanoTime)
    val before = values.keySet
    values = compute().map(gauge => gauge.path -> gauge.value).toMap
    val added = (values.keySet -- before).iterator.map(path => path -> (() => value(path))).toMap
    val removed = before -- values.keySet
    if (added.nonEmpty || removed.nonEmpty) MetricsSource.change(source, added, removed)
  }

  override def close(): Unit = synchronized {
    isClosed = true
    MetricsSource.change(source, Map.empty, values.keySet)
    values = Map.empty
  }
}

private object PublishedGauges {
  val MaxAge: FiniteDuration = 1.second
}
