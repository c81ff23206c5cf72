package org.apache.spark.sparkkinesis

import scala.jdk.CollectionConverters._

import com.codahale.metrics.{Gauge, MetricRegistry}
import org.apache.spark.SparkEnv
import org.apache.spark.metrics.source.Source

/**
 * Publishes gauges of this JVM in Spark's metrics system, so that the sinks in the user's `metrics.properties` (JMX,
 * Prometheus, Graphite …) report them without further configuration. Spark's public plugin API would require the user
 * to enable a plugin.
 */
object MetricsSource {

  /**
   * Adds and removes gauges of a source, which is registered at the first call. Does nothing outside of Spark.
   *
   * @param added
   *   the value of each gauge by its name; a gauge that exists stays as it is
   */
  def change(name: String, added: Map[String, () => Double], removed: Iterable[String] = Nil): Unit = synchronized {
    registry(name, register = added.nonEmpty).foreach { registry =>
      removed.foreach(registry.remove)
      added.foreach { case (metric, value) =>
        if (!registry.getGauges.containsKey(metric))
          registry.register(metric, new Gauge[Double] { override def getValue: Double = value() })
      }
    }
  }

  private def registry(name: String, register: Boolean): Option[MetricRegistry] =
    Option(SparkEnv.get).map(_.metricsSystem).flatMap { system =>
      system.getSourcesByName(name).headOption.map(_.metricRegistry).orElse(Option.when(register) {
        val registry = new MetricRegistry
        system.registerSource(new Source {
          override val sourceName: String = name
          override val metricRegistry: MetricRegistry = registry
        })
        registry
      })
    }

  /** Returns the current values of a registered source, for tests; empty if there is no such source. */
  def values(name: String): Map[String, Double] =
    Option(SparkEnv.get).toSeq.flatMap(_.metricsSystem.getSourcesByName(name)).flatMap { source =>
      source.metricRegistry.getGauges.asScala.map { case (metric, gauge) =>
        metric -> gauge.getValue.asInstanceOf[Double]
      }
    }.toMap
}
