package org.apache.spark.sparkkinesis

import java.util.ServiceLoader

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.sources.DataSourceRegister

import org.sparkkinesis.error.ErrorConditions
import org.sparkkinesis.suite.TimedSuite

class SparkCompatibilitySuite extends TimedSuite {
  private def registered: Seq[RegisteredFormat] = ServiceLoader.load(classOf[DataSourceRegister]).asScala.toSeq
    .filter(_.getClass.getName.startsWith("org.sparkkinesis.")).collect { case format: RegisteredFormat => format }

  test("the jar of this build fits Spark 4 with Scala 2.13 and nothing else") {
    assert(SparkCompatibility.fits())
    SparkCompatibility.ensureFits()
    val fitting = Seq("4.0.5" -> "2.13.16", "4.3.0" -> "2.13.18", "4.1.0-amzn-0" -> "2.13.17")
    val others = Seq("3.5.9" -> "2.12.18", "3.5.9" -> "2.13.8", "40.0.0" -> "2.13.18", "5.0.0" -> "2.13.18")
    fitting.foreach { case (spark, scala) => assert(SparkCompatibility.fits(spark, scala), spark) }
    others.foreach { case (spark, scala) => assert(!SparkCompatibility.fits(spark, scala), spark) }
  }

  test("the error of another Spark names the jar, its line, the Spark that runs and the artifact for it") {
    val error = SparkCompatibility.failure("3.5.6-amzn-0", "2.12.18")
    assert(error.getCondition == "KINESIS_JAR_OF_OTHER_SPARK")
    assert(error.getErrorClass == error.getCondition)
    val parameters = error.getMessageParameters.asScala.toMap
    assert(parameters("jar").startsWith("spark-kinesis_2.13 "))
    assert(parameters - "jar" == Map(
      "made" -> "Spark 4 with Scala 2.13",
      "running" -> "Spark 3.5.6-amzn-0 with Scala 2.12.18",
      "wanted" -> "spark-kinesis-3.5_2.12"
    ))
    assert(error.getMessage == ErrorConditions.message("KINESIS_JAR_OF_OTHER_SPARK", parameters))
  }

  test("every registered class is one that links with each version of Spark, and its implementation can be created") {
    assert(registered.map(_.shortName).sorted ==
      Seq("aws-kinesis", "kinesis", "kinesis-sink-options", "kinesis-source-options"))
    assert(registered.forall(format => format.implementation() eq format.implementation()))
    assert(registered.collect { case tables: RegisteredTables => tables.implementation() }.forall {
      case tables: SessionTableProvider => registered.map(_.shortName).contains(tables.shortName)
      case _ => false
    })
  }
}
