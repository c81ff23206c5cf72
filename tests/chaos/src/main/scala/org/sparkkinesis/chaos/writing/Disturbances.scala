package org.sparkkinesis.chaos.writing

import scala.util.Random

import org.sparkkinesis.emulator.KinesisEmulator
import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}

/**
 * Faults of an operation that writes, of up to two seconds each.
 *
 * @param throttling
 *   error code with which the service throttles a call or an entry
 */
final class Disturbances(operation: String, throttling: String, random: Random) {
  private val effects = Seq(
    FaultEffect.Error(503, "ServiceUnavailableException", "injected") -> 1.0,
    FaultEffect.Error(400, throttling, "injected") -> 0.5,
    FaultEffect.FailEntries(throttling, "injected") -> 0.3,
    FaultEffect.FailEntries("InternalFailure", "injected") -> 0.3,
    FaultEffect.LostAnswer(FaultEffect.Error(500, "InternalFailure", "injected")) -> 0.3,
    FaultEffect.LateAnswer(2000) -> 0.2,
    FaultEffect.Delay(2000) -> 0.2,
    FaultEffect.Silence -> 0.2,
    FaultEffect.Cut(done = true) -> 0.3,
    FaultEffect.Cut(done = false) -> 0.3
  )

  /** Adds one fault. */
  def addTo(kinesis: KinesisEmulator): Unit = {
    val (effect, probability) = effects(random.nextInt(effects.size))
    val rule = FaultRule(
      effect,
      operation = operation,
      probability = probability,
      forMillis = 300L + random.nextInt(1700)
    )
    kinesis.faults.add(rule)
    ()
  }
}
