package org.sparkkinesis.error

import java.lang.reflect.Method

import org.sparkkinesis.suite.TimedSuite

class ErrorConditionsSuite extends TimedSuite {
  private val conditions = ErrorConditions.all

  private val factories: Seq[AnyRef] =
    Seq(
      OptionErrors,
      TableErrors,
      ServiceErrors,
      ReadErrors,
      ConsumerErrors,
      SinkErrors,
      RealTimeErrors,
      MetadataErrors,
      EmulatorErrors
    )

  /** Conditions that only the Python package raises. */
  private val raisedElsewhere = Set("KINESIS_JAR_MISSING", "KINESIS_JAR_OF_OTHER_SPARK")

  /** A factory method that was called with a different value for each parameter. */
  final private class Made(factory: AnyRef, method: Method) {
    private val arguments: Seq[(String, Any)] = method.getParameters.toSeq.zipWithIndex.map { case (parameter, i) =>
      val value: Any = parameter.getType match {
        case c if c == classOf[Int] => 1000 + i
        case c if c == classOf[Long] => 2000L + i
        case _ => s"<${parameter.getName}>"
      }
      parameter.getName -> value
    }
    val name: String = s"${factory.getClass.getSimpleName.stripSuffix("$")}.${method.getName}"
    val error: KinesisConnectorException =
      method.invoke(factory, arguments.map(_._2.asInstanceOf[AnyRef]): _*).asInstanceOf[KinesisConnectorException]
    val values: Map[String, String] = arguments.map { case (parameter, value) => parameter -> value.toString }.toMap
  }

  private lazy val made: Seq[Made] = factories.flatMap { factory =>
    factory.getClass.getDeclaredMethods
      .filter(_.getReturnType == classOf[KinesisConnectorException])
      .sortBy(_.getName)
      .map(new Made(factory, _))
  }

  test("every condition has problem, cause and fix in complete sentences") {
    val ends = "(?s).*([.?]|\\{[a-zA-Z]+\\})"
    conditions.values.foreach { condition =>
      Seq(condition.problem, condition.fix, condition.cause)
        .foreach(text => assert(text.matches(ends) && !text.matches("[a-z].*"), s"${condition.name}: $text"))
      assert(condition.name.matches("KINESIS(_[A-Z]+)+"), condition.name)
    }
  }

  test("a message has name, problem, cause and fix of its condition with all parameters") {
    val error = ServiceErrors.streamUnusable(stream = "a$1b\\", status = "DELETING")
    assert(
      error.getMessage ==
        "[KINESIS_STREAM_UNUSABLE] Stream 'a$1b\\' is DELETING. Cause: Only an ACTIVE or UPDATING stream can be read " +
        "or written. Fix: Wait until the stream is ACTIVE, then start the query again."
    )
  }

  test("a value that looks like a placeholder is not replaced") {
    val text = ErrorConditions.message("KINESIS_STREAM_UNUSABLE", Map("stream" -> "{status}", "status" -> "CREATING"))
    assert(text.contains("Stream '{status}' is CREATING."), text)
  }

  test("an error with a cause keeps its condition and parameters") {
    val cause = new RuntimeException("why")
    val error = ServiceErrors.regionMissing("orders")
    val caused = error.causedBy(cause)
    assert(caused.getCause eq cause)
    assert((caused.condition, caused.parameters) == (error.condition, error.parameters))
  }

  test("every condition has exactly one factory") {
    assert(made.map(_.error.condition).sorted == (conditions.keySet -- raisedElsewhere).toSeq.sorted)
  }

  test("the parameters of a factory method are those of its condition") {
    made.foreach { one =>
      assert(one.error.parameters == one.values, one.name)
      assert(one.values.keySet == conditions(one.error.condition).parameters, one.name)
      one.values.values.foreach(value => assert(one.error.getMessage.contains(value), one.name))
      assert(!one.error.getMessage.contains("{"), one.error.getMessage)
    }
  }
}
