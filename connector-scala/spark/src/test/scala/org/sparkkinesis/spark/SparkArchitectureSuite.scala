package org.sparkkinesis.spark

import org.sparkkinesis.KinesisTableProvider
import org.sparkkinesis.architecture.ModuleArchitecture
import org.sparkkinesis.suite.TimedSuite

class SparkArchitectureSuite extends TimedSuite {
  private lazy val spark = new ModuleArchitecture(classOf[KinesisTableProvider])

  test("the module uses core, aws, Spark and Hadoop's file systems, but neither the AWS SDK nor Netty") {
    spark.checkUses(
      "org.sparkkinesis..",
      "org.apache.spark..",
      "org.apache.hadoop..",
      "org.slf4j",
      "com.codahale.metrics"
    )
    spark.checkNoUse("org.sparkkinesis..", "software.amazon..")
  }

  test("the module's packages are free of cycles") {
    spark.checkNoCycles()
  }

  test("settings have no default arguments, because defaults are declared with the options") {
    spark.checkNoDefaultArguments(".*Settings")
  }

  test("each layer of the module uses only itself and the layers below it") {
    def all(names: String*): Seq[String] = names.map("org.sparkkinesis.spark." + _)
    spark.checkLayers(
      "org.apache.spark.sparkkinesis" +: "org.apache.spark.sql.sparkkinesis" +:
        all("error", "settings", "metric", "protocol", "connection", "sink.invalid"),
      all("executor"),
      all("coordinator", "coordinator.cluster", "coordinator.state"),
      all("metadata"),
      all("session.checkpoint"),
      all("session"),
      all("session.check", "session.member"),
      all("read.reader", "read.live", "read.query", "sink", "write.route"),
      all("read.batch"),
      all("read", "write"),
      all("table", "read.realtime"),
      all("catalog"),
      Seq("org.sparkkinesis")
    )
  }

  test("the writing side does not use the reading side's classes, nor the reverse") {
    spark.checkNoUse("org.sparkkinesis.spark.(sink|write)..", "org.sparkkinesis.spark.read..")
    spark.checkNoUse("org.sparkkinesis.spark.read..", "org.sparkkinesis.spark.(sink|write)..")
  }
}
