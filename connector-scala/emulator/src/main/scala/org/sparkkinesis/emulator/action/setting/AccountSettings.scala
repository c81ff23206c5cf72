package org.sparkkinesis.emulator.action.setting

import org.sparkkinesis.emulator.action.call.{Action, Answer, Call, Validator}
import org.sparkkinesis.emulator.document.ReplyWriter
import org.sparkkinesis.emulator.engine.Namespace
import org.sparkkinesis.model.KinesisQuotas.Count

/** DescribeLimits returns the number of shards and on-demand streams, and their limits. */
object DescribeLimits extends Action {
  val name = "DescribeLimits"

  override def run(call: Call): Answer = {
    call.admit()
    val namespace = call.namespace
    Answer.body { reply =>
      reply.obj {
        reply.field("ShardLimit", Count.ShardsPerAccount.toLong)
        reply.field("OpenShardCount", namespace.openShards.toLong)
        reply.field("OnDemandStreamCount", namespace.streams.count(_.settings.onDemand).toLong)
        reply.field("OnDemandStreamCountLimit", Count.OnDemandStreams.toLong)
      }
    }
  }
}

/** DescribeAccountSettings returns whether the account has a minimum throughput commitment. */
object DescribeAccountSettings extends Action {
  val name = "DescribeAccountSettings"

  override def run(call: Call): Answer = {
    call.admit()
    Answer.body(AccountSettings.write(call.namespace))
  }
}

/** UpdateAccountSettings switches the minimum throughput commitment on or off. */
object UpdateAccountSettings extends Action {
  val name = "UpdateAccountSettings"

  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    validator.present("MinimumThroughputBillingCommitment")
    validator.check()
    val commitment = new Validator(call.fields.structure("MinimumThroughputBillingCommitment").get)
    val status = commitment.requiredOneOf("Status", "ENABLED", "DISABLED")
    commitment.check()
    call.admit()
    call.namespace.hasCommitment = status.contains("ENABLED")
    Answer.body(AccountSettings.write(call.namespace))
  }
}

private object AccountSettings {
  def write(namespace: Namespace)(reply: ReplyWriter): Unit = reply.obj {
    reply.obj("MinimumThroughputBillingCommitment") {
      reply.field("Status", if (namespace.hasCommitment) "ENABLED" else "DISABLED")
    }
  }
}
