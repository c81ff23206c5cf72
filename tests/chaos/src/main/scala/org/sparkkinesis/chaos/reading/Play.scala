package org.sparkkinesis.chaos.reading

import scala.concurrent.duration._

import org.sparkkinesis.chaos.query.QueryProcess
import org.sparkkinesis.chaos.reading.schedule.ChaosEvent
import org.sparkkinesis.chaos.reading.schedule.ChaosEvent._
import org.sparkkinesis.kit.process.StandaloneCluster

/** Executes the events of a schedule and counts them. */
final private[reading] class Play(
    stage: Stage,
    lives: QueryLives,
    proxy: Option[ServiceProxy],
    cluster: Option[StandaloneCluster],
    query: QueryProcess
) {
  private var happened = Map.empty[String, Int]

  /** The progress of the query when an executor was killed. */
  private var lastKill = (0, 0)

  /** The times and hours of clock jumps while the query is down. */
  private var jumps = Vector.empty[(Deadline, Int)]

  def counts: Map[String, Int] = happened

  def begin(event: ChaosEvent): Unit = {
    val did = perform(event)
    val name = event.getClass.getSimpleName.stripSuffix("$")
    if (did) happened += name -> (happened.getOrElse(name, 0) + 1)
    println(s"$event${if (did) "" else ": nothing to do"}; ${query.rows} rows so far")
  }

  /** Executes what is due. */
  def tick(): Unit = {
    val (due, later) = jumps.partition(_._1.isOverdue())
    jumps = later
    due.foreach { case (_, hours) => stage.jump(hours) }
    stage.tick()
    lives.tick()
  }

  private def perform(event: ChaosEvent): Boolean = event match {
    case Split(stream, pick) => stage.split(stream, pick)
    case Merge(stream, pick) => stage.merge(stream, pick)
    case LeaveOut(stream, pick) => stage.leaveOut(stream, pick)
    case Fault(rule) => stage.fault(rule)
    case KillExecutor(pick) => killExecutor(pick)
    case KillDriver(early) => (early || hasBatch) && lives.killDriver()
    case SwitchMode(kill) => hasBatch && lives.switchMode(kill)
    case AvailableNow(kill) => hasBatch && lives.availableNow(kill)
    case Jump(hours) => stage.jump(hours)
    case Down(millis, hours) =>
      val isDown = hasBatch && lives.down(millis.millis)
      if (isDown) jumps :+= (millis / 2).millis.fromNow -> hours
      isDown
    case Recreate(stream, shards, millis) => stage.recreate(stream, shards, millis)
    case CutOff(pick, millis, silent) => cutOff(pick, millis.millis, silent)
  }

  /** On a busy machine, events would otherwise end each life of the query before it reads anything. */
  private def hasBatch: Boolean = query.batchesOfLife > 0

  /** Kills an executor if the query has written a batch since the last such event. */
  private def killExecutor(pick: Int): Boolean = {
    val progress = (query.starts, query.batchesOfLife)
    val did = hasBatch && progress != lastKill && executor(pick).exists(_.destroyForcibly())
    if (did) lastKill = progress
    did
  }

  private def executor(pick: Int): Option[ProcessHandle] = {
    val living = cluster.toSeq.flatMap(_.executors)
    Option.when(living.nonEmpty)(living(pick % living.size)._2)
  }

  /** Cuts off the driver in one of four cases, otherwise an executor. */
  private def cutOff(pick: Int, time: FiniteDuration, silent: Boolean): Boolean = {
    val victim = if (cluster.isEmpty || pick % 4 == 0) query.handle else executor(pick / 4)
    for { proxy <- proxy; process <- victim } proxy.cutOff(process.pid, time, silent)
    victim.nonEmpty && proxy.nonEmpty
  }
}
