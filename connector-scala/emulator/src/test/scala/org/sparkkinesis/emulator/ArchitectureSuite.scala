package org.sparkkinesis.emulator

import munit.FunSuite

import org.sparkkinesis.architecture.ModuleArchitecture

class ArchitectureSuite extends FunSuite {
  private lazy val emulator = new ModuleArchitecture(classOf[KinesisEmulator])

  test("the emulator uses core, Netty and Jackson, but neither Spark nor the AWS SDK") {
    emulator.checkUses(
      "org.sparkkinesis.model",
      "org.sparkkinesis.service",
      "io.netty..",
      "com.fasterxml.jackson..",
      "org.slf4j"
    )
  }
}
