package org.sparkkinesis.emulator.engine.stream

import org.sparkkinesis.emulator.engine.quota.QuotaPolicy
import org.sparkkinesis.emulator.engine.shard.MemoryBudget
import org.sparkkinesis.emulator.engine.time.{EmulatorClock, Timers}

/** The services of the engine that a stream uses. Thread-safe. */
trait StreamHost {
  def clock: EmulatorClock
  def timers: Timers

  /** The quotas that are enforced now. They may change while the emulator runs. */
  def policy: QuotaPolicy
  def budget: MemoryBudget
  def store: StreamStore
}
