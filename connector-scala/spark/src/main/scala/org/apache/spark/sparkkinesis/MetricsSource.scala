package org.apache.spark.sparkkinesis

import com.codahale.metrics.{Gauge, MetricRegistry}
import org.apache.spark.SparkEnv
import org.apache.spark.metrics.source.Source

/**
 * Figures of this JVM in Spark's own metrics system, which shows them where the user's `metrics.properties` says (JMX,
 * Prometheus, Graphite …) without any further setting. Spark's public way, a plugin, would have to be switched on.
 */
object MetricsSource {

  /** Once for each SparkEnv, however often it is called; without effect outside of Spark. */
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

  /** The present values of a registered source by name, for tests; empty when there is none. */
  def values(name: String): Map[String, Double] = {
    import scala.jdk.CollectionConverters._
    Option(SparkEnv.get).toSeq.flatMap(_.metricsSystem.getSourcesByName(name)).flatMap { source =>
      source.metricRegistry.getGauges.asScala.map { case (metric, gauge) =>
        metric -> gauge.getValue.asInstanceOf[Double]
      }
    }.toMap
  }
}
