package org.sparkkinesis.simulation.write.task

import org.sparkkinesis.service.KinesisService
import org.sparkkinesis.simulation.common.{SimulatedProcess, SimulatedThreads, SimulatedTime}
import org.sparkkinesis.simulation.model.ModelKinesis
import org.sparkkinesis.sink.kinesis.{KnownStreams, SharedStreamLimits, SinkProcess}

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
  private var attempts = Vector.empty[WriteAttempt]

  def isAlive: Boolean = process.isAlive

  def began(attempt: WriteAttempt): Unit = attempts = attempts.filterNot(_.isOver) :+ attempt

  /** Ends the process with its threads. Only the simulation's own thread may call it. */
  def kill(): Unit = {
    process.kill()
    attempts.foreach(_.lose())
  }
}
