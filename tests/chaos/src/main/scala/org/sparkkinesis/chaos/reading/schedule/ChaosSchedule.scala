package org.sparkkinesis.chaos.reading.schedule

import scala.concurrent.duration._
import scala.util.Random

/** Creates all events of a run with their times from its start. The same seed gives the same events. */
object ChaosSchedule {
  import ChaosEvent._

  /** Creates events of the kinds that [[ChaosPlan.has]]. */
  def of(plan: ChaosPlan): Vector[(FiniteDuration, ChaosEvent)] = {
    val random = new Random(plan.seed)
    val kinds = ChaosKind.All.filter(plan.has).toVector.sortBy(_.name)
    val drawn = kinds.flatMap(kind => Vector.fill(kind.weight)(kind))
    if (drawn.isEmpty) Vector.empty
    else
      Iterator.iterate(2.seconds + gap(random))(_ + gap(random)).takeWhile(_ < plan.length)
        .map(at => at -> event(drawn(random.nextInt(drawn.size)), random)).toVector
  }

  private def gap(random: Random): FiniteDuration = (300 + random.nextInt(2200)).millis

  private def event(kind: ChaosKind, random: Random): ChaosEvent = {
    def pick() = random.nextInt(1000)
    kind match {
      case ChaosKind.Split => Split(pick(), pick())
      case ChaosKind.Merge => Merge(pick(), pick())
      case ChaosKind.LeaveOut => LeaveOut(pick(), pick())
      case ChaosKind.Fault => Fault(ServiceFaults.polling(random))
      case ChaosKind.Outage => Fault(ServiceFaults.outage(random))
      case ChaosKind.SubscriptionFault => Fault(ServiceFaults.subscription(random))
      case ChaosKind.SinkFault => Fault(ServiceFaults.writing(random, ChaosPlan.Copy))
      case ChaosKind.KillExecutor => KillExecutor(pick())
      case ChaosKind.KillDriver => KillDriver(early = random.nextInt(4) == 0)
      case ChaosKind.SwitchMode => SwitchMode(kill = random.nextBoolean())
      case ChaosKind.AvailableNow => AvailableNow(kill = random.nextBoolean())
      case ChaosKind.Jump => Jump(1 + random.nextInt(10))
      case ChaosKind.Expire => Jump(25 + random.nextInt(24))
      case ChaosKind.ExpireWhileDown => Down(1000 + random.nextInt(6000), 25 + random.nextInt(24))
      case ChaosKind.Recreate => Recreate(pick(), 1 + random.nextInt(4), 500 + random.nextInt(8000))
      case ChaosKind.CutOff => CutOff(pick(), 1000 + random.nextInt(14000), silent = random.nextBoolean())
    }
  }
}

/** Creates random fault rules of the emulator, as `FaultJson` reads them. */
private object ServiceFaults {
  private val Reads =
    Vector("GetRecords", "GetShardIterator", "ListShards", "SubscribeToShard", "DescribeStreamSummary")

  def polling(random: Random): String = rule(one(random, OfCalls), one(random, Reads), random)

  def subscription(random: Random): String = rule(one(random, OfSubscriptions), "SubscribeToShard", random)

  /**
   * Returns a fault of a sink's requests. No fault delays the execution of a request that has arrived: the emulator,
   * like the service, executes it although its task was killed and has closed the connection, and it could then be
   * stored after later records. The simulation delays requests before they arrive, which their task can prevent.
   */
  def writing(random: Random, stream: String): String =
    rule(one(random, OfWrites), "PutRecords", random).dropRight(1) + s""", "stream": "$stream"}"""

  /** Returns a fault that answers every reading operation with an error. */
  def outage(random: Random): String = {
    val operation = if (random.nextBoolean()) "GetRecords" else "SubscribeToShard"
    val millis = 1000 + random.nextInt(4000)
    s"""{"effect": "error", "errorType": "ServiceUnavailable", "operation": "$operation", "forMillis": $millis}"""
  }

  private def rule(effect: String, operation: String, random: Random): String = {
    val (probability, millis) = (0.1 + random.nextInt(9) / 10.0, 200 + random.nextInt(3000))
    s"""{"effect": $effect, "operation": "$operation", "probability": $probability, "forMillis": $millis}"""
  }

  private def one(random: Random, items: Vector[String]): String = items(random.nextInt(items.size))

  // Each text is the name of an effect and the rest of the rule's JSON.
  private val OfCalls = Vector(
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
  private val OfSubscriptions = Vector(
    "\"endAfter\", \"events\": 2",
    "\"failAfter\", \"events\": 1, \"errorType\": \"InternalFailureException\"",
    "\"duplicateEvents\"",
    "\"resetAfter\", \"events\": 1",
    "\"throttle\"",
    "\"resetStream\"",
    "\"goAway\"",
    "\"cut\""
  )
  private val OfWrites = Vector(
    "\"throttle\"",
    "\"error\", \"errorType\": \"ServiceUnavailable\"",
    "\"failEntries\", \"errorType\": \"ProvisionedThroughputExceededException\"",
    "\"failEntries\", \"errorType\": \"InternalFailure\"",
    "\"lateAnswer\", \"millis\": 500",
    "\"lostAnswer\", \"errorType\": \"InternalFailure\"",
    "\"cut\"",
    "\"cut\", \"done\": true"
  )
}
