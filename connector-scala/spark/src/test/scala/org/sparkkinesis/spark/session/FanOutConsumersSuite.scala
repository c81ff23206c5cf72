package org.sparkkinesis.spark.session

import org.sparkkinesis.aws.client.{ClientSettings, CredentialSettings}
import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.event.ConsumersNotRecorded
import org.sparkkinesis.spark.connection.{FakeDirectory, VirtualEnvironment}
import org.sparkkinesis.spark.session.checkpoint.{CheckpointFiles, MemoryFiles, RegisteredConsumers}
import org.sparkkinesis.spark.settings.ReadSettings
import org.sparkkinesis.suite.TimedSuite

class FanOutConsumersSuite extends TimedSuite {
  private val orders = FakeDirectory.arn("orders")

  /** Files of a checkpoint that can become read-only. */
  final private class Files extends CheckpointFiles {
    private val files = new MemoryFiles
    var failure = Option.empty[RuntimeException]

    override def read(name: String): Option[String] = files.read(name)
    override def names(prefix: String): Set[String] = files.names(prefix)
    override def startedMillis: Option[Long] = files.startedMillis
    override def write(name: String, text: String): Unit = {
      failure.foreach(throw _)
      files.write(name, text)
    }
    override def delete(name: String): Unit = {
      failure.foreach(throw _)
      files.delete(name)
    }
  }

  test("a checkpoint that cannot be written when the query stops does not prevent the stop") {
    val time = new VirtualScheduler
    val service = new FakeDirectory(time)
    service.add("orders")
    val environment = new VirtualEnvironment(time, service)
    val files = new Files
    val options = Options.read(Map(
      "streamName" -> "orders",
      "consumerMode" -> "efo",
      "registration" -> "none",
      "consumerARN" -> s"$orders/consumer/etl:1"
    ))
    val client = ClientSettings.of(Some("us-east-1"), None, CredentialSettings.DefaultChain)
    val consumers = new FanOutConsumers(
      options,
      () => ReadSettings(options, Map(orders -> client)),
      _ => service,
      RegisteredConsumers(files, _),
      time,
      environment,
      environment.recorded
    )
    assert(consumers.ensure(Seq(service.streams("orders"))) == Map(orders -> s"$orders/consumer/etl:1"))
    val failure = new IllegalStateException("the file system is read-only")
    files.failure = Some(failure)
    consumers.close()
    assert(environment.recorded.of[ConsumersNotRecorded] == Vector(ConsumersNotRecorded(orders, failure)))
  }
}
