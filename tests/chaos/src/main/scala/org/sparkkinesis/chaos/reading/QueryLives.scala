package org.sparkkinesis.chaos.reading

import scala.concurrent.duration._

import org.sparkkinesis.chaos.Drained
import org.sparkkinesis.chaos.query.{Ending, QueryProcess}
import org.sparkkinesis.kit.EndConditions.{Losses, Passing}

/**
 * Starts and restarts the query with the settings that the events request. Handles the end of the query like an
 * operator: after a reported loss it restarts it once with `failOnDataLoss=false`, and after a temporary failure it
 * restarts it without a change. For one thread.
 *
 * @param counts
 *   returns the number of records that each stream has accepted
 */
final private[reading] class QueryLives(query: QueryProcess, firstMode: String, counts: () => Map[String, Long]) {
  import QueryLives._

  private var mode = firstMode
  private var failsOnLoss = true
  private var startAt: Option[Deadline] = None

  /** The counts at the start of the current life if it runs with `Trigger.AvailableNow`. */
  private var draining: Option[Map[String, Long]] = None
  private var ends = Map.empty[String, Int]
  private var done = Vector.empty[Drained]

  /** The number of lives that ended with each condition. */
  def endings: Map[String, Int] = ends

  /** The completed runs with `Trigger.AvailableNow`. */
  def drained: Seq[Drained] = done

  def isRunning: Boolean = startAt.isEmpty && query.handle.nonEmpty

  def start(): Unit = {
    startAt = None
    val consumer = if (mode == "efo") Seq("--source.consumerName", "chaos") else Nil
    query.start(
      Seq("--source.consumerMode", mode, "--source.failOnDataLoss", failsOnLoss.toString) ++ consumer ++
        Seq("--trigger", if (draining.nonEmpty) "availableNow" else "0")
    )
  }

  def killDriver(): Boolean = again(kill = true)(())

  def switchMode(kill: Boolean): Boolean = again(kill) { mode = if (mode == "efo") "polling" else "efo" }

  def availableNow(kill: Boolean): Boolean = again(kill) { draining = Some(counts()) }

  /** Kills the query and restarts it after this time. */
  def down(time: FiniteDuration): Boolean = isRunning && {
    end(kill = true)
    startAt = Some(time.fromNow)
    true
  }

  /** Handles an end of the query, and starts it when that is due. */
  def tick(): Unit = {
    query.ending.filter(_ => startAt.isEmpty).foreach(take)
    if (startAt.exists(_.isOverdue())) start()
  }

  /** Reads all remaining records with `Trigger.AvailableNow`. Returns false after the time limit. */
  def finish(within: FiniteDuration): Boolean = {
    val deadline = within.fromNow
    if (isRunning) end(kill = false)
    draining = Some(counts())
    start()
    val before = done.size
    while (done.size == before && deadline.hasTimeLeft()) {
      query.letRun(Look)
      tick()
    }
    query.kill()
    done.size > before
  }

  private def again(kill: Boolean)(change: => Unit): Boolean = isRunning && {
    end(kill)
    change
    start()
    true
  }

  private def end(kill: Boolean): Unit = {
    if (kill) query.kill() else query.stop(LongestStop).condition.foreach(note)
    draining = None
    failsOnLoss = true
  }

  private def take(ending: Ending): Unit = ending.condition match {
    case None =>
      val before = draining.getOrElse(throw new IllegalStateException(s"the query ended by itself; see ${query.log}"))
      done :+= Drained(before, query.lastBatch)
      draining = None
      start()
    case Some(condition) =>
      note(condition)
      if (Losses(condition)) {
        if (!failsOnLoss) throw unexpected(condition)
        failsOnLoss = false
        start()
      } else startAt = Some(Pause.fromNow)
  }

  private def note(condition: String): Unit = {
    if (!Losses(condition) && !Passing(condition)) throw unexpected(condition)
    println(s"the query ended with $condition")
    ends += condition -> (ends.getOrElse(condition, 0) + 1)
  }

  private def unexpected(condition: String) =
    new IllegalStateException(s"the query ended with $condition; see ${query.log}")
}

private object QueryLives {
  val Pause: FiniteDuration = 1.second
  val Look: FiniteDuration = 50.millis
  val LongestStop: FiniteDuration = 2.minutes
}
