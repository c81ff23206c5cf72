package org.sparkkinesis.integration.sql

import org.apache.spark.sql.AnalysisException

import org.sparkkinesis.integration.SparkSuite

/** Tables of the connector's formats in the session catalog. */
abstract class TableFixture extends SparkSuite {

  /** Creates the stream and a table of the same name, with these options besides those of the connection. */
  protected def table(name: String, options: (String, String)*): String = {
    kinesis.admin.createStream(name, 2)
    create(name, (connection(name) ++ options).toSeq: _*)
  }

  protected def create(name: String, options: (String, String)*): String = {
    spark.sql(s"CREATE TABLE $name USING kinesis OPTIONS (${list(options)})")
    name
  }

  protected def list(options: Seq[(String, String)]): String =
    options.map { case (key, value) => s"'$key' '$value'" }.mkString(", ")

  protected def put(stream: String, values: Int*): Unit =
    values.foreach(value => kinesis.admin.putRecord(stream, s"k$value", utf8(value.toString)))

  protected def texts(query: String): Seq[String] = spark.sql(query).collect().map(_.getString(0)).toSeq.sorted

  protected def values(table: String): Seq[Int] =
    texts(s"SELECT CAST(data AS STRING) FROM $table").map(_.toInt).sorted

  protected def hasTable(name: String): Boolean = spark.catalog.tableExists(name)

  /** The condition of the error that Spark reports for a statement. */
  protected def refused(body: => Any): AnalysisException = intercept[AnalysisException](body)
}
