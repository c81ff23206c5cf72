package org.sparkkinesis.chaos

import scala.concurrent.duration._
import scala.util.Random

/** A fault or a change. `pick` selects one of the targets that exist when it happens. */
sealed trait ChaosEvent
object ChaosEvent {
  final case class Split(pick: Int) extends ChaosEvent
  final case class Merge(pick: Int) extends ChaosEvent

  /** The next listing lacks one of the newest shards. */
  final case class LeaveOut(pick: Int) extends ChaosEvent

  /** A fault rule of the emulator, as `FaultJson` reads it. */
  final case class Fault(rule: String) extends ChaosEvent
  final case class KillExecutor(pick: Int) extends ChaosEvent
  case object KillDriver extends ChaosEvent
}

/** All events of a run with their times from its start. The same seed gives the same events. */
object ChaosSchedule {
  import ChaosEvent._

  /**
   * @param executors
   *   whether there are executors to kill
   * @param fanOut
   *   whether to include faults of subscriptions
   */
  def of(
      seed: Long,
      length: FiniteDuration,
      executors: Boolean,
      fanOut: Boolean
  ): Vector[(FiniteDuration, ChaosEvent)] = {
    val random = new Random(seed)
    val kinds = Vector[(Int, () => ChaosEvent)](
      4 -> (() => Split(random.nextInt(1000))),
      4 -> (() => Merge(random.nextInt(1000))),
      6 -> (() => Fault(fault(random, polling))),
      2 -> (() => Fault(outage(random))),
      1 -> (() => LeaveOut(random.nextInt(1000))),
      (if (fanOut) 8 else 0) -> (() => Fault(fault(random, subscriptions))),
      (if (executors) 2 else 0) -> (() => KillExecutor(random.nextInt(1000))),
      1 -> (() => KillDriver)
    ).flatMap { case (weight, kind) => Vector.fill(weight)(kind) }
    val times = Iterator.iterate(2.seconds + gap(random))(_ + gap(random)).takeWhile(_ < length)
    times.map(at => at -> kinds(random.nextInt(kinds.size))()).toVector
  }

  private def gap(random: Random): FiniteDuration = (300 + random.nextInt(2200)).millis

  private def fault(random: Random, effects: Vector[String]): String = {
    val operation = Vector("GetRecords", "GetShardIterator", "ListShards", "SubscribeToShard", "DescribeStreamSummary")
    val effect = effects(random.nextInt(effects.size))
    val of = if (effects eq subscriptions) "SubscribeToShard" else operation(random.nextInt(operation.size))
    val (probability, millis) = (0.1 + random.nextInt(9) / 10.0, 200 + random.nextInt(3000))
    s"""{"effect": $effect, "operation": "$of", "probability": $probability, "forMillis": $millis}"""
  }

  /** Returns a fault that answers every reading operation with an error. */
  private def outage(random: Random): String = {
    val operation = if (random.nextBoolean()) "GetRecords" else "SubscribeToShard"
    val millis = 1000 + random.nextInt(4000)
    s"""{"effect": "error", "errorType": "ServiceUnavailable", "operation": "$operation", "forMillis": $millis}"""
  }

  // Each text is the name of an effect and the rest of the rule's JSON.
  private val polling = Vector(
    "\"throttle\"",
    "\"error\", \"errorType\": \"InternalFailure\"",
    "\"cut\"",
    "\"cut\", \"done\": true",
    "\"resetStream\"",
    "\"delay\", \"millis\": 700",
    "\"lateAnswer\", \"millis\": 700",
    "\"lostAnswer\", \"errorType\": \"InternalFailure\"",
    "\"goAway\""
  )
  private val subscriptions = Vector(
    "\"endAfter\", \"events\": 2",
    "\"failAfter\", \"events\": 1, \"errorType\": \"InternalFailureException\"",
    "\"duplicateEvents\"",
    "\"resetAfter\", \"events\": 1",
    "\"throttle\"",
    "\"resetStream\"",
    "\"goAway\"",
    "\"cut\""
  )
}
