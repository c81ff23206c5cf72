package org.sparkkinesis.spark.session

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.spark.connection.{FakeDirectory, VirtualEnvironment}
import org.sparkkinesis.suite.TimedSuite

class StreamSessionSuite extends TimedSuite {
  test("a session that cannot be created leaves no client and no thread open") {
    val time = new VirtualScheduler
    val service = new FakeDirectory(time)
    service.add("orders")
    val environment = new VirtualEnvironment(time, service)
    def session(streams: String) = new StreamSession(
      Options.read(Map(
        "streamName" -> streams,
        "region" -> "us-east-1",
        "awsAccessKey" -> "test",
        "awsSecretKey" -> "test"
      )),
      QueryContext.Unknown,
      environment
    )
    val error = intercept[KinesisConnectorException](session("orders,missing"))
    assert(error.condition == "KINESIS_STREAM_NOT_FOUND" && environment.open == 0)
    val created = session("orders")
    assert(environment.open > 0)
    created.close()
    assert(environment.open == 0)
  }
}
