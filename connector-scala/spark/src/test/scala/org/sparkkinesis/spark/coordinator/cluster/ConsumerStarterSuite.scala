package org.sparkkinesis.spark.coordinator.cluster

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.event.ConsumersNotStarted
import org.sparkkinesis.spark.connection.{FakeDirectory, VirtualEnvironment}
import org.sparkkinesis.spark.protocol.{DriverHandler, Endpoint}
import org.sparkkinesis.spark.settings.ReadSettings
import org.sparkkinesis.suite.TimedSuite

class ConsumerStarterSuite extends TimedSuite {

  /** A cluster with one executor, whose start jobs fail this many times. */
  final private class Rig(fails: Int) extends ExecutorCluster {
    val time = new VirtualScheduler
    val environment = new VirtualEnvironment(time, new FakeDirectory(time))
    var jobs = 0
    var isKnown = false
    var failure = Option.empty[Throwable]
    val starter = new ConsumerStarter(
      this,
      "source",
      ReadSettings(Options.defaults, Map.empty),
      environment,
      10.seconds.toMillis,
      _ => isKnown,
      error => failure = Some(error)
    )

    override def executors: Seq[ExecutorPlace] = Seq(ExecutorPlace("1", "host"))
    override def slots: Int = 1
    override def location(place: ExecutorPlace): String = place.host
    override def open(name: String, handler: DriverHandler): Endpoint = () => ()
    override def listen(onAdded: () => Unit, onRemoved: String => Unit): AutoCloseable = () => ()
    override def startConsumers(sourceId: String, settings: ReadSettings, places: Seq[ExecutorPlace]): Unit = {
      jobs += 1
      if (jobs <= fails) throw new IllegalStateException(s"job $jobs")
      isKnown = true
    }
  }

  test("a failed start job is reported and repeated until the executor's consumers have registered") {
    val rig = new Rig(fails = 3)
    rig.starter.wake()
    rig.time.advance(1.minute)
    assert(rig.jobs == 4 && rig.failure.isEmpty)
    assert(rig.environment.recorded.of[ConsumersNotStarted].map(event => event.failures -> event.failure.getMessage) ==
      Vector(1 -> "job 1", 2 -> "job 2", 3 -> "job 3"))
  }

  test("the fourth failed start job in a row ends the query") {
    val rig = new Rig(fails = 4)
    rig.starter.wake()
    rig.time.advance(1.minute)
    assert(rig.failure.map(_.getMessage).contains("job 4"))
    assert(rig.environment.recorded.of[ConsumersNotStarted].size == 3 && rig.environment.open == 0)
  }
}
