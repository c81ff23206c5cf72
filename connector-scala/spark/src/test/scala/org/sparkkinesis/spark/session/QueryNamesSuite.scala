package org.sparkkinesis.spark.session

import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.suite.TimedSuite

class QueryNamesSuite extends TimedSuite {
  private def names(properties: (String, String)*): QueryContext =
    QueryNames.of(properties.toMap.get, Seq("orders"))

  test("a streaming query has an id, a run id and the user's name") {
    val found = names(
      "sql.streaming.queryId" -> "q",
      "spark.jobGroup.id" -> "r",
      "spark.job.description" -> "etl\nid = q\nrunId = r\nbatch = init"
    )
    assert(found == QueryContext(Some("q"), Some("r"), Some("etl"), Seq("orders")))
  }

  test("a query without a name has no empty name") {
    val found = names(
      "sql.streaming.queryId" -> "q",
      "spark.jobGroup.id" -> "r",
      "spark.job.description" -> "\nid = q\nrunId = r\nbatch = 7"
    )
    assert(found.name.isEmpty)
  }

  test("outside of a streaming query, a job's group and description are not used as the query's names") {
    val found = names("spark.jobGroup.id" -> "mine", "spark.job.description" -> "a report")
    assert(found == QueryContext(streams = Seq("orders")))
  }
}
