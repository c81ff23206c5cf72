package org.sparkkinesis.spark.table

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.util.CaseInsensitiveStringMap

import org.sparkkinesis.config.{ConnectionOptions, Options, ReadOptions}
import org.sparkkinesis.spark.error.StatementException
import org.sparkkinesis.suite.TimedSuite

class TableOptionsSuite extends TimedSuite {
  private def of(properties: (String, String)*): TableOptions =
    new TableOptions(properties.toMap, Options.overTable(_, _), Options.overTable(_, _), Options.isOption(_))

  /** The properties that Spark's catalog stores for these options. */
  private def stored(options: (String, String)*): Seq[(String, String)] =
    ("provider" -> "kinesis") +: options.flatMap { case (name, value) => Seq(name -> value, s"option.$name" -> value) }

  test("the options of a catalog's table are those of OPTIONS, and the properties that have the name of an option") {
    val cases = Seq[(Seq[(String, String)], Map[String, String])](
      stored("streamName" -> "a") -> Map("streamName" -> "a"),
      (stored("streamName" -> "a") :+ "team" -> "x") -> Map("streamName" -> "a"),
      stored("streamNme" -> "a") -> Map("streamNme" -> "a"),
      (stored("streamName" -> "a") :+ "STREAMNAME" -> "b") -> Map("streamName" -> "a", "STREAMNAME" -> "b"),
      (stored("streamName" -> "a") :+ "initialPosition" -> "latest") ->
        Map("streamName" -> "a", "initialPosition" -> "latest"),
      (stored("streamName" -> "a") :+ "kinesis.region" -> "eu-west-1") ->
        Map("streamName" -> "a", "kinesis.region" -> "eu-west-1"),
      (stored("streamName" -> "a") :+ "roleArn.orders" -> "r") -> Map("streamName" -> "a", "roleArn.orders" -> "r"),
      stored("streamName" -> "a").filterNot(_._1 == "streamName") -> Map.empty
    )
    cases.foreach { case (properties, expected) =>
      assert(of(properties: _*).declared == expected, properties)
    }
  }

  test("without a catalog every option counts") {
    assert(of("team" -> "x").declared == Map("team" -> "x"))
    assert(!of("team" -> "x").isOfCatalog)
  }

  test("a wrong option is an error when the options are checked, not before") {
    val table = of(stored("streamNme" -> "a"): _*)
    assert(table.isOfCatalog && table.peek.isEmpty)
    assert(intercept[StatementException](table.checked).getCondition == "KINESIS_OPTION_UNKNOWN")
  }

  test("the options of a read replace those of the table, in any case") {
    val table = of(stored("streamName" -> "a", "minFetchPeriod" -> "1s"): _*)
    val merged = table.merged(new CaseInsensitiveStringMap(Map("STREAMNAME" -> "b").asJava))
    assert(merged(ConnectionOptions.streamName).map(_.name) == Seq("b"))
    assert(merged.written(ReadOptions.minFetchPeriod).contains("1s"))
    val properties = TableOptions.withOptions(stored("streamName" -> "a").toMap, Map("streamname" -> "b"))
    assert(of(properties.toSeq: _*).declared == Map("streamname" -> "b"))
  }

  test("what Spark shows has the properties, each option under both names, and no secret") {
    val table = of(stored("streamName" -> "a", "awsSecretKey" -> "secret", "roleExternalId" -> "secret") ++
      Seq("team" -> "x", "path" -> "file:/warehouse/a"): _*)
    val shown = table.shown.asScala.toMap
    assert(shown.keySet == Set("streamName", "awsSecretKey", "roleExternalId")
      .flatMap(name => Set(name, s"option.$name")) ++ Set("provider", "team"))
    assert(!shown.values.exists(_.contains("secret")), shown)
    assert(shown("option.streamName") == "a")
  }

  test("a property that replaced an option is shown as the option, so that the statement that creates it is right") {
    val table = of((stored("streamName" -> "a").toMap + ("streamName" -> "b")).toSeq: _*)
    assert(table.shown.get("option.streamName") == "b")
  }
}
