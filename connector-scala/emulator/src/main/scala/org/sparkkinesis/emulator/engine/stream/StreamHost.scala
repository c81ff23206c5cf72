package org.sparkkinesis.emulator.engine.stream

import org.sparkkinesis.emulator.engine.quota.QuotaPolicy
import org.sparkkinesis.emulator.engine.shard.MemoryBudget
import org.sparkkinesis.emulator.engine.time.{EmulatorClock, Timers}

/** What a stream uses of the engine that it belongs to. Thread-safe. */
trait StreamHost {
  def clock: EmulatorClock
  def timers: Timers

  /** The quotas that apply now; they may change while the emulator runs. */
  def policy: QuotaPolicy
  def budget: MemoryBudget
  def store: StreamStore
}
