package org.sparkkinesis.spark.session.check

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.event.ConsumerLeft
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.metadata.PhysicalStream
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.spark.connection.{FakeDirectory, VirtualEnvironment}
import org.sparkkinesis.spark.session.StreamSession
import org.sparkkinesis.spark.session.checkpoint.{MemoryFiles, RegisteredConsumers}
import org.sparkkinesis.suite.TimedSuite

class LeftConsumersSuite extends TimedSuite {
  private val orders = FakeDirectory.arn("orders")
  private val clicks = FakeDirectory.arn("clicks")
  private def consumer(of: String): String = s"$of/consumer/etl:1"

  final private class Rig(options: (String, String)*) {
    val time = new VirtualScheduler
    val service = new FakeDirectory(time)
    service.add("orders")
    val environment = new VirtualEnvironment(time, service)
    val files = new MemoryFiles
    private val all = Map(
      "streamName" -> "orders",
      "region" -> "us-east-1",
      "awsAccessKey" -> "test",
      "awsSecretKey" -> "test"
    ) ++ options
    private val session = new StreamSession(Options.read(all), QueryContext.Unknown, environment)
    val left = new LeftConsumers(
      session,
      files,
      environment,
      arn => StreamRef.parse(arn).collect { case ref: StreamRef.ByArn => PhysicalStream(ref) }
    )

    /** An earlier run registered a consumer of these streams and was killed. */
    def registered(arns: String*): Unit = arns.foreach { arn =>
      service.consumers += consumer(arn)
      RegisteredConsumers(files, arn).write(Set(consumer(arn)))
    }
    def noted: Set[String] = RegisteredConsumers.all(files).flatMap(_.read()).flatten.toSet
  }

  test("a query that polls deregisters the consumers of a killed run, also of streams that it does not read") {
    val rig = new Rig
    rig.registered(orders, clicks)
    rig.service.consumers += s"$orders/consumer/other:1"
    val open = rig.environment.open
    rig.left.deregister(_ => false)
    assert(rig.service.consumers == Set(s"$orders/consumer/other:1"), "others belong to somebody else")
    assert(rig.files.texts.isEmpty)
    assert(rig.environment.open <= open + 2, "its threads are closed; the session keeps those of its clients")
  }

  test("consumers of streams that the query reads with fan-out stay") {
    val rig = new Rig
    rig.registered(orders, clicks)
    rig.left.deregister(_ == orders)
    assert(rig.service.consumers == Set(consumer(orders)) && rig.noted == Set(consumer(orders)))
  }

  test("a consumer during whose registration the query was killed is found by its name") {
    val rig = new Rig
    rig.service.consumers += consumer(orders)
    RegisteredConsumers(rig.files, orders).beginRegistration(orders, "etl", Set.empty)
    // The registration of this one never reached the service.
    RegisteredConsumers(rig.files, clicks).beginRegistration(clicks, "etl", Set.empty)
    rig.left.deregister(_ => false)
    assert(rig.service.consumers.isEmpty && rig.files.texts.isEmpty)
  }

  test("nothing is deregistered if the options keep consumers") {
    val rig = new Rig("requireConsumerDeregistration" -> "false")
    rig.registered(orders)
    rig.left.deregister(_ => false)
    assert(rig.service.consumers == Set(consumer(orders)) && rig.noted == Set(consumer(orders)))
  }

  test("a consumer that cannot be deregistered stays noted, with a warning, and takes a bounded time") {
    val rig = new Rig
    rig.registered(orders)
    rig.service.isSilent = true
    val began = rig.time.currentMillis
    rig.left.deregister(_ => false)
    assert(rig.time.currentMillis - began <= 20000)
    assert(rig.noted == Set(consumer(orders)))
    assert(rig.environment.recorded.all.collect { case event: ConsumerLeft => event.consumerArn } ==
      Vector(consumer(orders)))
  }
}
