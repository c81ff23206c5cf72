package org.sparkkinesis.aws

import org.sparkkinesis.architecture.ModuleArchitecture
import org.sparkkinesis.aws.client.SdkKinesisService
import org.sparkkinesis.suite.TimedSuite

class AwsArchitectureSuite extends TimedSuite {
  private lazy val aws = new ModuleArchitecture(classOf[SdkKinesisService])

  test("the module uses core's lower layers, the AWS SDK and Netty, but not Spark") {
    aws.checkUses(
      "org.sparkkinesis.model..",
      "org.sparkkinesis.network",
      "org.sparkkinesis.secret",
      "org.sparkkinesis.service",
      "org.sparkkinesis.error",
      "org.sparkkinesis.concurrent",
      "org.sparkkinesis.event..",
      "software.amazon..",
      "io.netty..",
      "com.fasterxml.jackson..",
      "org.reactivestreams",
      "org.slf4j.."
    )
  }

  test("only the loggers of the libraries in the jar use the logging interface") {
    aws.checkNoUse(
      "org.sparkkinesis.aws.(client|error|getrecords|http|putrecords|record|request|subscription|transport)..",
      "org.slf4j.."
    )
  }

  test("the module's packages are free of cycles") {
    aws.checkNoCycles()
  }

  test("settings have no default arguments, because defaults are declared with the options") {
    aws.checkNoDefaultArguments(".*Settings")
  }

  test("each layer of the module uses only itself and the layers below it") {
    aws.checkLayers(
      Seq(
        "org.sparkkinesis.aws.error",
        "org.sparkkinesis.aws.record",
        "org.sparkkinesis.aws.transport",
        "org.sparkkinesis.aws.logging"
      ),
      Seq("org.sparkkinesis.aws.http"),
      Seq("org.sparkkinesis.aws.request"),
      Seq("org.sparkkinesis.aws.getrecords", "org.sparkkinesis.aws.putrecords", "org.sparkkinesis.aws.subscription"),
      Seq("org.sparkkinesis.aws.client")
    )
  }
}
