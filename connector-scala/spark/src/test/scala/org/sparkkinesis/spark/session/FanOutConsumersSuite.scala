package org.sparkkinesis.spark.session

import java.util.concurrent.{BlockingQueue, CompletableFuture}

import scala.concurrent.duration._

import org.sparkkinesis.aws.client.{ClientSettings, CredentialSettings}
import org.sparkkinesis.concurrent.{VirtualScheduler, Waiting}
import org.sparkkinesis.config.Options
import org.sparkkinesis.event.ConsumersNotRecorded
import org.sparkkinesis.spark.connection.{Environment, FakeDirectory, VirtualEnvironment}
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

  /** A query that is interrupted, as Spark stops it, while it waits for the answer of a registration. */
  final private class Registering {
    val time = new VirtualScheduler
    val service = new FakeDirectory(time)
    service.add("orders")
    service.holdsRegistrations = true
    val files = new MemoryFiles
    private val options = Options.read(Map("streamName" -> "orders", "consumerMode" -> "efo", "consumerName" -> "etl"))
    private val client = ClientSettings.of(Some("us-east-1"), None, CredentialSettings.DefaultChain)
    private val base = new VirtualEnvironment(time, service)

    def another(environment: Environment = base): FanOutConsumers = new FanOutConsumers(
      options,
      () => ReadSettings(options, Map(orders -> client)),
      _ => service,
      RegisteredConsumers(files, _),
      time,
      environment,
      base.recorded
    )

    /** Interrupts the first wait for an answer that is not there within a minute. */
    private val interrupting = new VirtualEnvironment(time, service) {
      override val waiting: Waiting = new Waiting {
        private var isInterrupted = false
        override def get[A](future: CompletableFuture[A]): A =
          if (isInterrupted || base.waiting.until(future, 1.minute)) base.waiting.get(future)
          else {
            isInterrupted = true
            throw new InterruptedException("by the test")
          }
        override def until(done: CompletableFuture[_], limit: FiniteDuration): Boolean =
          base.waiting.until(done, limit)
        override def take[A](queue: BlockingQueue[A]): A = base.waiting.take(queue)
      }
    }
    val consumers: FanOutConsumers = another(interrupting)

    def interruptedStart(): Boolean =
      try {
        consumers.ensure(Seq(service.streams("orders"))): Unit
        false
      } catch { case _: InterruptedException => true }
  }

  test("a consumer of a query that stops while it is registered is removed, and if not, by the next run") {
    for (isAnswered <- Seq(true, false)) {
      val rig = new Registering
      rig.files.write("unrelated", "x")
      val interrupted = rig.interruptedStart()
      assert(interrupted, "the registration was running")
      // The intention is in the checkpoint while the outcome is not known.
      assert(RegisteredConsumers(rig.files, orders).unfinished().contains(orders -> "etl"))
      if (isAnswered) rig.service.answerRegistration()
      rig.consumers.close()
      assert(rig.service.consumers.isEmpty == isAnswered)
      assert(RegisteredConsumers(rig.files, orders).unfinished().isEmpty == isAnswered)
      if (!isAnswered) {
        rig.service.answerRegistration()
        val next = rig.another()
        assert(next.ensure(Seq(rig.service.streams("orders"))).keySet == Set(orders))
        next.close()
        assert(rig.service.consumers.isEmpty && rig.files.names("registered-consumers-").isEmpty)
      }
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
