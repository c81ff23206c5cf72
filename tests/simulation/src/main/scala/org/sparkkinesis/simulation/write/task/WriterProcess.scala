package org.sparkkinesis.simulation.write.task

import java.util.concurrent.CompletableFuture

import scala.concurrent.duration._

import org.sparkkinesis.event.EventSink
import org.sparkkinesis.metadata.PhysicalStream
import org.sparkkinesis.service.KinesisService
import org.sparkkinesis.simulation.common.{SimulatedProcess, SimulatedThreads, SimulatedTime}
import org.sparkkinesis.simulation.model.ModelKinesis
import org.sparkkinesis.sink.kinesis.{KnownStreams, SharedStreamLimits, SinkProcess}
import org.sparkkinesis.sink.route.RouteHealth

/** An executor: the shared state of its tasks and its client. */
final class WriterProcess(
    val name: String,
    service: ModelKinesis,
    time: SimulatedTime,
    threads: SimulatedThreads,
    random: () => Double
) {
  val process = new SimulatedProcess(name, time)
  val known = new KnownStreams[String]
  val sink = new SinkProcess(process.scheduler, new SharedStreamLimits, threads.condition, random)
  val client: KinesisService = service.client(name, () => process.isAlive)

  /** The physical streams that tasks have left because of failures. */
  val health = new RouteHealth
  private var attempts = Vector.empty[WriteAttempt]

  /** Leaves a stream of a logical stream until `probe` succeeds. */
  def leave(stream: PhysicalStream, isPermanent: Boolean)(probe: () => CompletableFuture[_]): Unit = {
    health.leave(stream, isPermanent, WriterProcess.ProbeEvery, process.scheduler, EventSink.Discard)(probe)
    ()
  }

  def isAlive: Boolean = process.isAlive

  def began(attempt: WriteAttempt): Unit = attempts = attempts.filterNot(_.isOver) :+ attempt

  /** Ends the process with its threads. Only the simulation's own thread may call it. */
  def kill(): Unit = {
    process.kill()
    attempts.foreach(_.lose())
  }
}

private object WriterProcess {

  /** Pause between two attempts to reach a stream that was left. */
  val ProbeEvery: FiniteDuration = 5.seconds
}
