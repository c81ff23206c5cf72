package org.sparkkinesis.architecture

import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.suite.TimedSuite

class CoreArchitectureSuite extends TimedSuite {
  private lazy val core = new ModuleArchitecture(classOf[StreamRef])

  test("core uses Jackson's streaming parser and the logging interface, but neither Spark nor the AWS SDK") {
    core.checkUses("com.fasterxml.jackson.core..", "org.slf4j")
  }

  test("core's packages are free of cycles") {
    core.checkNoCycles()
  }

  test("each layer of core uses only itself and the layers below it") {
    def all(names: String*): Seq[String] = names.map("org.sparkkinesis." + _)
    core.checkLayers(
      all("json", "model.hash", "concurrent", "secret"),
      all("model"),
      all("model.packed"),
      all("error", "service", "aggregate", "config.value", "network"),
      all("event"),
      all("event.log", "config", "retry", "chunk"),
      all("shard", "metadata", "metric"),
      all("consume.spill"),
      all("consume", "sink.limit", "sink.limit.shared"),
      all("consume.poll", "consume.fanout", "plan.offset", "sink"),
      all("plan", "plan.member", "plan.prune", "plan.realtime"),
      all("sink.writer", "sink.put", "sink.kinesis.lane", "sink.kinesis.put"),
      all("sink.kinesis.pack"),
      all("sink.kinesis"),
      all("sink.route")
    )
  }

  test("only the event log uses the logging interface") {
    Seq(
      "aggregate|chunk|concurrent|config|consume|error|json",
      "metadata|model|network|plan|retry|secret|service|shard|sink"
    ).foreach(names => core.checkNoUse(s"org.sparkkinesis.($names)..", "org.slf4j.."))
  }

  test("the planner does not depend on fetching or writing") {
    core.checkNoUse("org.sparkkinesis.plan..", "org.sparkkinesis.consume.*..")
    core.checkNoUse("org.sparkkinesis.plan..", "org.sparkkinesis.sink..")
  }

  test("settings have no default arguments, because defaults are declared with the options") {
    core.checkNoDefaultArguments(".*(Settings|RetryPolicies|RetryRules|RetryPolicy)")
  }

  test("the check of defaults finds a default argument") {
    val tests = new ModuleArchitecture(getClass)
    val error = intercept[AssertionError](tests.checkNoDefaultArguments("WithDefault"))
    assert(error.getMessage.contains("WithDefault.apply$default$1"), error.getMessage)
  }
}

/** A class with a default argument, which the check must find. */
final case class WithDefault(size: Int = 1)
