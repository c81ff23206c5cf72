package org.sparkkinesis.chaos.reading.schedule

/** A fault or a change. `stream` and `pick` select targets, modulo the number of those that exist when it happens. */
sealed trait ChaosEvent
object ChaosEvent {
  final case class Split(stream: Int, pick: Int) extends ChaosEvent
  final case class Merge(stream: Int, pick: Int) extends ChaosEvent

  /** The next listing lacks one of the newest shards. */
  final case class LeaveOut(stream: Int, pick: Int) extends ChaosEvent

  /** A fault rule of the emulator, as `FaultJson` reads it. */
  final case class Fault(rule: String) extends ChaosEvent
  final case class KillExecutor(pick: Int) extends ChaosEvent

  /** @param early whether to kill also a driver that has not written a batch yet */
  final case class KillDriver(early: Boolean) extends ChaosEvent

  /** Stops or kills the query, and restarts it in the other consumer mode. */
  final case class SwitchMode(kill: Boolean) extends ChaosEvent

  /** Stops or kills the query, and restarts it with `Trigger.AvailableNow`. At its end it is restarted as before. */
  final case class AvailableNow(kill: Boolean) extends ChaosEvent

  /** Advances the clock of the service while the query runs. */
  final case class Jump(hours: Int) extends ChaosEvent

  /** Kills the query and restarts it after some time, in the middle of which the clock of the service is advanced. */
  final case class Down(millis: Int, hours: Int) extends ChaosEvent

  /** Deletes a stream, and recreates it after some time. */
  final case class Recreate(stream: Int, shards: Int, millis: Int) extends ChaosEvent

  /**
   * Cuts an executor or the driver off from the service, and from nothing else.
   *
   * @param silent
   *   whether connections hang instead of being closed
   */
  final case class CutOff(pick: Int, millis: Int, silent: Boolean) extends ChaosEvent
}

/**
 * A kind of events.
 *
 * @param weight
 *   its frequency, relative to that of the other kinds
 */
sealed abstract class ChaosKind(val name: String, val weight: Int)
object ChaosKind {
  case object Split extends ChaosKind("split", 16)
  case object Merge extends ChaosKind("merge", 16)
  case object Fault extends ChaosKind("fault", 24)
  case object Outage extends ChaosKind("outage", 8)
  case object LeaveOut extends ChaosKind("leave-out", 4)
  case object SubscriptionFault extends ChaosKind("subscription-fault", 32)
  case object KillExecutor extends ChaosKind("kill-executor", 8)
  case object KillDriver extends ChaosKind("kill-driver", 3)
  case object SwitchMode extends ChaosKind("switch-mode", 1)
  case object AvailableNow extends ChaosKind("available-now", 2)
  case object Jump extends ChaosKind("jump", 2)
  case object Expire extends ChaosKind("expire", 1)
  case object ExpireWhileDown extends ChaosKind("expire-while-down", 1)
  case object Recreate extends ChaosKind("recreate", 1)
  case object CutOff extends ChaosKind("cut-off", 6)
  case object SinkFault extends ChaosKind("sink-fault", 16)

  /** Kinds that destroy no records and keep the settings of the query. */
  val Basic: Set[ChaosKind] =
    Set(Split, Merge, Fault, Outage, LeaveOut, SubscriptionFault, KillExecutor, KillDriver)

  val All: Set[ChaosKind] =
    Basic ++ Set(SwitchMode, AvailableNow, Jump, Expire, ExpireWhileDown, Recreate, CutOff, SinkFault)

  /**
   * `basic`, `all`, or names of kinds, separated by commas.
   *
   * @throws IllegalArgumentException
   *   if a kind does not exist
   */
  def parse(text: String): Set[ChaosKind] = text match {
    case "basic" => Basic
    case "all" => All
    case names => names.split(',').toSet.map((name: String) =>
        All.find(_.name == name).getOrElse(throw new IllegalArgumentException(
          s"There is no kind '$name'. The kinds are ${All.map(_.name).toSeq.sorted.mkString(", ")}."
        ))
      )
  }
}
