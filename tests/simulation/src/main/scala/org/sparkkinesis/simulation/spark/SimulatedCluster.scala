package org.sparkkinesis.simulation.spark

import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.Random

import org.apache.spark.SparkException

import org.sparkkinesis.simulation.common.{SimulatedProcess, SimulatedTime}
import org.sparkkinesis.spark.coordinator.cluster.{ExecutorCluster, ExecutorPlace}
import org.sparkkinesis.spark.executor.ConsumerHosts
import org.sparkkinesis.spark.protocol.{DriverHandler, DriverPeer, Endpoint, ExecutorWire, Peer}
import org.sparkkinesis.spark.settings.ReadSettings

/** An executor: a process with its consumers. */
final class SimulatedExecutor(
    val process: SimulatedProcess,
    val environment: SimulatedEnvironment,
    val wire: ExecutorWire
) {
  val hosts = new ConsumerHosts(wire, environment)
  def name: String = process.name
}

/**
 * The executors of one application and their connections to its driver. Messages in one direction between two
 * processes arrive in order, unless they are lost.
 *
 * @param environmentOf
 *   creates an executor's environment
 * @param skewMillis
 *   time by which the executors' clocks are ahead of the service's
 * @param inspect
 *   receives every message that executors send to the driver
 * @param onLost
 *   called when an executor has ended
 */
final class SimulatedCluster(
    time: SimulatedTime,
    driver: SimulatedProcess,
    random: Random,
    faults: WireFaults,
    environmentOf: SimulatedProcess => SimulatedEnvironment,
    skewMillis: () => Long,
    inspect: Array[Byte] => Unit,
    onLost: SimulatedCluster => Unit
) extends ExecutorCluster {
  private val living = mutable.LinkedHashMap.empty[String, SimulatedExecutor]
  private val endpoints = mutable.HashMap.empty[String, DriverHandler]
  private var listeners = Vector.empty[(() => Unit, String => Unit)]

  def executorsNow: Seq[SimulatedExecutor] = living.values.toVector

  def add(name: String): Unit = {
    val process = new SimulatedProcess(name, time, skewMillis)
    process.whenKilled(lost(name))
    living(name) = new SimulatedExecutor(process, environmentOf(process), new Wire(process))
    later(random.nextInt(2000))(listeners.foreach(_._1()))
  }

  /** Ends an executor without notice. The driver notices it later, in one or two ways. */
  def lose(name: String): Unit = living.get(name).foreach(_.process.kill())

  /** Stops the work of an executor for a time, for example because its container is paused. */
  def freeze(name: String, millis: Long): Unit = living.get(name).foreach(_.process.freeze(millis))

  /** Ends an executor in the same way after this number of steps. */
  def loseAfter(name: String, steps: Int): Unit = living.get(name).foreach(_.process.killAfter(steps))

  private def lost(name: String): Unit = if (living.remove(name).nonEmpty) {
    later(random.nextInt(3000))(endpoints.values.toVector.foreach(_.onDisconnected(name)))
    later(random.nextInt(30000))(listeners.foreach(_._2(name)))
    onLost(this)
  }

  /** Ends all executors with the application. */
  def killAll(): Unit = {
    val all = living.values.toVector
    living.clear()
    all.foreach(_.process.kill())
  }

  override def open(name: String, handler: DriverHandler): Endpoint = {
    endpoints(name) = handler
    () => endpoints -= name
  }

  override def executors: Seq[ExecutorPlace] = living.keys.toVector.map(ExecutorPlace(_, "host"))

  override def slots: Int = living.size

  override def location(place: ExecutorPlace): String = place.id

  /** Runs most tasks in their preferred executor, and some elsewhere. */
  override def startConsumers(sourceId: String, settings: ReadSettings, places: Seq[ExecutorPlace]): Unit = {
    time.waitFor(SimulatedCluster.LongestWait)(living.nonEmpty || !driver.isAlive)
    driver.check()
    places.foreach { place =>
      val elsewhere = living.values.toVector
      living.get(place.id).filterNot(_ => random.nextInt(20) == 0)
        .orElse(Option.when(elsewhere.nonEmpty)(elsewhere(random.nextInt(elsewhere.size))))
        .foreach(_.hosts.ensureStarted(sourceId, settings))
    }
  }

  override def listen(onAdded: () => Unit, onRemoved: String => Unit): AutoCloseable = {
    val listener = (onAdded, onRemoved)
    listeners :+= listener
    () => listeners = listeners.filterNot(_ eq listener)
  }

  private def later(millis: Int)(body: => Unit): Unit = {
    driver.scheduler.schedule(millis.millis)(body)
    ()
  }

  /** The connections of one executor. */
  final private class Wire(process: SimulatedProcess) extends ExecutorWire {
    private val toDriver = new MessageChannel(process, SimulatedCluster.this.driver, time, random, faults)
    private val toExecutor = new MessageChannel(SimulatedCluster.this.driver, process, time, random, faults)

    override def executorId: String = process.name
    override def executorHost: String = "host"

    override def open(name: String)(handler: Array[Byte] => Unit): Endpoint = new ExecutorEndpoint(
      toExecutor,
      message => {
        process.step()
        handler(message)
      }
    )

    override def driver(name: String): DriverPeer = new DriverPeer {
      override def send(message: Array[Byte]): Unit = {
        process.step()
        toDriver.send {
          inspect(message)
          endpoints.get(name).foreach(_.onMessage(message))
        }
      }

      /** Fails if the request or the answer is lost. */
      override def deliver(message: Array[Byte]): Unit = {
        process.step()
        val isSent = !faults.loses()
        if (isSent && SimulatedCluster.this.driver.isAlive) endpoints.get(name).foreach { handler =>
          inspect(message)
          handler.onMessage(message)
        }
        if (!isSent || !SimulatedCluster.this.driver.isAlive || !endpoints.contains(name) || faults.loses())
          throw new SparkException(s"no answer of the endpoint $name")
        process.step()
      }

      override def register(message: Array[Byte], self: Endpoint): Unit = self match {
        case own: ExecutorEndpoint if SimulatedCluster.this.driver.isAlive && endpoints.contains(name) =>
          endpoints(name).onRegister(message, own, process.name)
        case _ => throw new SparkException(s"Cannot find endpoint: $name")
      }

      override def ping(executor: java.util.concurrent.Executor)(answer: Boolean => Unit): Unit = {
        val isThere = SimulatedCluster.this.driver.isAlive && endpoints.contains(name)
        executor.execute(() => answer(isThere))
      }
    }
  }
}

/** The endpoint of an executor, to which the driver sends. */
final private class ExecutorEndpoint(toExecutor: MessageChannel, handler: Array[Byte] => Unit) extends Endpoint
    with Peer {
  private var isOpen = true
  override def send(message: Array[Byte]): Unit = toExecutor.send(if (isOpen) handler(message))
  override def close(): Unit = isOpen = false
}

/** One direction of a connection between two processes. */
final private class MessageChannel(
    from: SimulatedProcess,
    to: SimulatedProcess,
    time: SimulatedTime,
    random: Random,
    faults: WireFaults
) {
  private var lastArrivalNanos = 0L

  def send(deliver: => Unit): Unit = if (from.isAlive && !faults.loses()) {
    val now = time.scheduler.nanoTime
    lastArrivalNanos = math.max(lastArrivalNanos, now + (1 + random.nextInt(3)) * 1000000L)
    to.scheduler.schedule((lastArrivalNanos - now).nanos)(deliver)
    ()
  }
}

private object SimulatedCluster {
  val LongestWait: FiniteDuration = 30.minutes
}

/** Temporary loss of messages between driver and executors. */
final class WireFaults(random: Random, now: () => Long) {
  private var untilMillis = 0L
  private var percent = 0

  def loseFor(millis: Long, share: Int): Unit = {
    untilMillis = now() + millis
    percent = share
  }

  def clear(): Unit = untilMillis = 0

  def loses(): Boolean = isActive && random.nextInt(100) < percent

  def isActive: Boolean = now() < untilMillis
}
