package org.sparkkinesis.spark.connection

import org.apache.spark.SparkEnv

import org.sparkkinesis.config.ConnectorVersion

/**
 * Names the Spark application to the service, so that CloudTrail shows who makes a call.
 *
 * @param id
 *   id of the application; empty outside of Spark
 */
final private[connection] case class CallingApplication(id: Option[String], name: Option[String]) {

  /** The `User-Agent` of each call: `spark-kinesis/0.1.0 app/application_1700000000000_0001 name/nightly-etl`. */
  def userAgent: String =
    (s"spark-kinesis/${ConnectorVersion.text}" +: (id.map("app/" + word(_)) ++ name.map("name/" + word(_))).toSeq)
      .mkString(" ")

  /** The name of the session of an assumed role, with at most 64 characters. */
  def sessionName: String =
    id.fold("spark-kinesis")(app => s"spark-kinesis-${word(app)}").take(CallingApplication.LongestSessionName)

  private def word(text: String): String = text.replaceAll("[^a-zA-Z0-9_.-]+", "-").take(CallingApplication.LongestName)
}

private[connection] object CallingApplication {
  private val LongestName = 100
  private val LongestSessionName = 64

  /** The application of this JVM. */
  def ofJvm: CallingApplication = {
    val conf = Option(SparkEnv.get).map(_.conf)
    CallingApplication(conf.flatMap(_.getOption("spark.app.id")), conf.flatMap(_.getOption("spark.app.name")))
  }
}
