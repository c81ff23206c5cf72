package org.sparkkinesis.spark.connection

import org.sparkkinesis.aws.client.CredentialSettings
import org.sparkkinesis.config.{ConnectionOptions, ConnectorVersion, Options}
import org.sparkkinesis.suite.TimedSuite

class CallingApplicationSuite extends TimedSuite {
  private val version = ConnectorVersion.text

  Seq(
    (None, None, s"spark-kinesis/$version", "spark-kinesis"),
    (
      Some("application_1700000000000_0001"),
      Some("nightly etl/ü"),
      s"spark-kinesis/$version app/application_1700000000000_0001 name/nightly-etl-",
      "spark-kinesis-application_1700000000000_0001"
    ),
    (Some("local-1"), None, s"spark-kinesis/$version app/local-1", "spark-kinesis-local-1"),
    (Some("a" * 99), None, s"spark-kinesis/$version app/${"a" * 99}", s"spark-kinesis-${"a" * 50}")
  ).foreach { case (id, name, agent, session) =>
    test(s"the application $id with the name $name is named to the service") {
      val caller = CallingApplication(id, name)
      assert(caller.userAgent == agent)
      assert(caller.sessionName == session)
      assert(ConnectionOptions.roleSessionName.kind.parse(caller.sessionName).isRight)
    }
  }

  test("the settings of a client name the application") {
    val role = "arn:aws:iam::123456789012:role/reader"
    val options = Options.read(Map("streamName" -> "orders", "region" -> "us-east-1", "roleArn" -> role))
    val settings = Connection.clientSettings(options, None)
    assert(settings.caller == s"spark-kinesis/$version")
    assert(settings.credentials.asInstanceOf[CredentialSettings.AssumeRole].sessionName == "spark-kinesis")
  }
}
