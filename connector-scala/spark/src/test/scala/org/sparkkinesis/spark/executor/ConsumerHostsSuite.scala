package org.sparkkinesis.spark.executor

import java.util.concurrent.Executor

import org.apache.spark.SparkException

import org.sparkkinesis.aws.client.{ClientSettings, CredentialSettings}
import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.event.{ConsumersCrashed, CoordinatorLost, CoordinatorUnreachable}
import org.sparkkinesis.spark.connection.{FakeDirectory, VirtualEnvironment}
import org.sparkkinesis.spark.protocol.{Broken, DriverPeer, Endpoint, ExecutorWire, ProtocolCodec, ToDriver}
import org.sparkkinesis.spark.settings.ReadSettings
import org.sparkkinesis.suite.TimedSuite

/** How an executor's consumers react when the coordinator is gone or a message cannot be handled. */
class ConsumerHostsSuite extends TimedSuite {

  /** An executor on virtual time, and a coordinator that the test controls. */
  final private class Rig extends ExecutorWire {
    val time = new VirtualScheduler
    val environment = new VirtualEnvironment(time, new FakeDirectory(time))
    var isFound = true
    var isAlive = true
    var heard = Vector.empty[ToDriver]
    var tell: Array[Byte] => Unit = _ => ()
    val hosts = new ConsumerHosts(this, environment)
    private val client = ClientSettings.of(Some("us-east-1"), None, CredentialSettings.DefaultChain)

    def start(): Unit =
      hosts.ensureStarted("source", ReadSettings(Options.defaults, Map(FakeDirectory.arn("orders") -> client)))

    override def executorId: String = "7"
    override def executorHost: String = "host"
    override def driver(name: String): DriverPeer = new DriverPeer {
      override def send(message: Array[Byte]): Unit = heard :+= ProtocolCodec.decodeToDriver(message)
      override def register(message: Array[Byte], self: Endpoint): Unit =
        if (!isFound) throw new SparkException("no such endpoint")
      override def ping(executor: Executor)(answer: Boolean => Unit): Unit =
        executor.execute(() => answer(isAlive))
    }
    override def open(name: String)(handler: Array[Byte] => Unit): Endpoint = {
      tell = handler
      () => ()
    }
  }

  test("consumers whose coordinator is not found are closed") {
    val rig = new Rig
    rig.isFound = false
    rig.start()
    assert(rig.environment.recorded.of[CoordinatorUnreachable] ==
      Vector(CoordinatorUnreachable("7", "no such endpoint")))
    assert(rig.hosts.find("source").isEmpty && rig.environment.open == 0)
  }

  test("consumers whose coordinator misses three pings are closed, and one that answers in time keeps them") {
    val rig = new Rig
    rig.start()
    rig.time.advance(ConsumerHost.PingPeriod * 10)
    rig.isAlive = false
    rig.time.advance(ConsumerHost.PingPeriod * 2)
    rig.isAlive = true
    rig.time.advance(ConsumerHost.PingPeriod)
    assert(rig.environment.recorded.of[CoordinatorLost].isEmpty && rig.hosts.find("source").nonEmpty)
    rig.isAlive = false
    rig.time.advance(ConsumerHost.PingPeriod * 3)
    assert(rig.environment.recorded.of[CoordinatorLost] == Vector(CoordinatorLost("7", ConsumerHost.PingsToMiss)))
    assert(rig.hosts.find("source").isEmpty)
  }

  test("consumers that cannot handle a message are closed, and the coordinator is told why") {
    val rig = new Rig
    rig.start()
    rig.tell(Array[Byte](-1))
    rig.time.runDue()
    val crashes = rig.environment.recorded.of[ConsumersCrashed]
    assert(crashes.map(_.id) == Vector("7"))
    assert(rig.heard.collect { case broken: Broken => broken.reason } == Vector(crashes.head.failure.toString))
    assert(rig.hosts.find("source").isEmpty)
  }
}
