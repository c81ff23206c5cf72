package org.sparkkinesis.firehose

import org.sparkkinesis.architecture.ModuleArchitecture
import org.sparkkinesis.suite.TimedSuite

class FirehoseArchitectureSuite extends TimedSuite {
  private lazy val firehose = new ModuleArchitecture(classOf[FirehoseTableProvider])

  test("the module uses core, the module for AWS and Spark, but neither the AWS SDK nor Netty") {
    firehose.checkUses("org.sparkkinesis..", "org.apache.spark..")
    firehose.checkNoUse("org.sparkkinesis.firehose..", "software.amazon..")
  }

  test("the module's packages are free of cycles") {
    firehose.checkNoCycles()
  }

  test("settings have no default arguments, because defaults are declared with the options") {
    firehose.checkNoDefaultArguments(".*Settings")
  }

  test("the module uses nothing that only reads, and nothing of the Kinesis sink") {
    firehose.checkNoUse(
      "org.sparkkinesis.firehose..",
      "org.sparkkinesis.(consume|plan|shard|chunk|aggregate)..",
      "org.sparkkinesis.sink.kinesis..",
      "org.sparkkinesis.spark.(read|write|coordinator|executor|session)..",
      "org.sparkkinesis.aws.(subscription|getrecords).."
    )
  }
}
