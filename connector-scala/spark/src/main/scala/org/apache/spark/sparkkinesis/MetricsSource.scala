package org.apache.spark.sparkkinesis

import com.codahale.metrics.{Gauge, MetricRegistry}
import org.apache.spark.SparkEnv
import org.apache.spark.metrics.source.Source

/**
 * Publishes gauges of this JVM in Spark's metrics system, so that the sinks in the user's `metrics.properties` (JMX,
 * Prometheus, Graphite …) report them without further configuration. Spark's public plugin API would require the user
 * to enable a plugin.
 */
object MetricsSource {

  /** Registers the gauges once per SparkEnv; further calls have no effect. Does nothing outside of Spark. */
  def register(name: String, gauges: => Map[String, () => Double]): Unit = synchronized {
    Option(SparkEnv.get).map(_.metricsSystem).filter(_.getSourcesByName(name).isEmpty).foreach { system =>
      val registry = new MetricRegistry
      gauges.foreach { case (metric, value) =>
        registry.register(metric, new Gauge[Double] { override def getValue: Double = value() })
      }
      system.registerSource(new Source {
        override val sourceName: String = name
        override val metricRegistry: MetricRegistry = registry
      })
    }
  }

  /** Returns the current values of a registered source, for tests; empty if there is no such source. */
  def values(name: String): Map[String, Double] = {
    import scala.jdk.CollectionConverters._
    Option(SparkEnv.get).toSeq.flatMap(_.metricsSystem.getSourcesByName(name)).flatMap { source =>
      source.metricRegistry.getGauges.asScala.map { case (metric, gauge) =>
        metric -> gauge.getValue.asInstanceOf[Double]
      }
    }.toMap
  }
}
