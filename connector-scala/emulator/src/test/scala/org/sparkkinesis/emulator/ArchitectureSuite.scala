package org.sparkkinesis.emulator

import org.sparkkinesis.architecture.ModuleArchitecture
import org.sparkkinesis.suite.TimedSuite

class ArchitectureSuite extends TimedSuite {
  private lazy val emulator = new ModuleArchitecture(classOf[KinesisEmulator])

  private def layer(names: String*): Seq[String] = names.map(name => s"org.sparkkinesis.emulator.$name")

  test("packages do not form cycles")(emulator.checkNoCycles())

  test("the wire uses the actions, the actions use the engine, and nothing uses the root package") {
    emulator.checkLayers(
      layer("engine.error", "engine.time"),
      layer("engine.quota"),
      layer("engine.consumer", "engine.delivery"),
      layer("engine.shard"),
      layer("engine.stream"),
      layer("engine"),
      layer("document"),
      layer("access", "count", "fault", "store"),
      layer("admin"),
      layer("action.call"),
      layer("action.tag"),
      layer("action.stream"),
      layer("action.consumer", "action.delivery", "action.record", "action.setting", "action.shard"),
      layer("action"),
      layer("wire.http"),
      layer("wire.auth"),
      layer("wire.page", "wire.push"),
      layer("wire"),
      Seq("org.sparkkinesis.emulator")
    )
  }

  test("only the wire uses Netty") {
    Seq("engine..", "document", "access", "count", "fault", "store", "admin", "action..").foreach { name =>
      emulator.checkNoUse(s"org.sparkkinesis.emulator.$name", "io.netty..")
    }
  }

  test("the HTTP package does not use the service packages") {
    emulator.checkNoUse("org.sparkkinesis.emulator.wire.http", layer("engine..", "action..", "document", "admin"): _*)
  }

  test("the emulator uses core, Netty and Jackson, but neither Spark nor the AWS SDK") {
    emulator.checkUses(
      "org.sparkkinesis.error",
      "org.sparkkinesis.model..",
      "io.netty..",
      "com.fasterxml.jackson..",
      "org.slf4j"
    )
  }
}
