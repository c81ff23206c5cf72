package org.sparkkinesis.emulator.action.setting

import org.sparkkinesis.emulator.action.call.Call
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.quota.Quota
import org.sparkkinesis.emulator.engine.stream.DataStream
import org.sparkkinesis.model.StreamStatus

/**
 * Changes settings of a stream, which is UPDATING in the meantime. Some changes are limited to a number in 24 hours.
 */
private[setting] object Changes {
  def of(call: Call, stream: DataStream)(apply: => Unit): Unit =
    stream.change(StreamStatus.Updating, call.engine.delays.update)(() => apply)

  /**
   * Checks that warm throughput is allowed: for on-demand streams of accounts with a minimum throughput commitment.
   */
  def requireWarmable(call: Call, onDemand: Boolean): Unit = if (!onDemand || !call.namespace.hasCommitment)
    throw ServiceError.validation(
      "Warm throughput needs a stream in ON_DEMAND mode and an account with MinimumThroughputBillingCommitment."
    )

  def admit(call: Call, stream: DataStream, kind: String, perDay: Int): Unit =
    call.engine.policy.limit(Quota.ChangesPerDay, perDay).foreach { limit =>
      if (!stream.admitChange(kind, limit, call.now))
        throw ServiceError.limitExceeded(
          s"${call.operation}: at most ${limit.toInt} such changes are allowed in a rolling 24-hour period for " +
            s"stream ${stream.name}."
        )
    }
}
