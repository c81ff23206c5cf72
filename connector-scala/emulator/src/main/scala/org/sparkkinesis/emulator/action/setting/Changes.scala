package org.sparkkinesis.emulator.action.setting

import org.sparkkinesis.emulator.action.call.Call
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.quota.Quota
import org.sparkkinesis.emulator.engine.stream.{StreamState, StreamStatus}

/** How settings change: the stream is UPDATING meanwhile, and some changes are allowed only so often. */
private[setting] object Changes {
  def of(call: Call, stream: StreamState)(apply: => Unit): Unit =
    stream.change(StreamStatus.Updating, call.engine.delays.update)(() => apply)

  /** Warm throughput is for on-demand streams of accounts that have committed themselves to a minimum. */
  def requireWarmable(call: Call, onDemand: Boolean): Unit = if (!onDemand || !call.namespace.hasCommitment)
    throw ServiceError.validation(
      "Warm throughput needs a stream in ON_DEMAND mode and an account with MinimumThroughputBillingCommitment."
    )

  def admit(call: Call, stream: StreamState, kind: String, perDay: Int): Unit =
    call.engine.policy.limit(Quota.ChangesPerDay, perDay).foreach { limit =>
      if (!stream.admitChange(kind, limit, call.now))
        throw ServiceError.limitExceeded(
          s"${call.operation}: at most ${limit.toInt} such changes are allowed in a rolling 24-hour period for stream ${stream.name}."
        )
    }
}
