package org.sparkkinesis.emulator.action.setting

import org.sparkkinesis.emulator.action.call.{Action, Answer, Call, Validator}
import org.sparkkinesis.emulator.engine.error.ServiceError

/**
 * EnableEnhancedMonitoring and DisableEnhancedMonitoring set the shard metrics of a stream. The emulator stores the
 * setting but does not publish metrics.
 */
sealed abstract class EnhancedMonitoring(enables: Boolean) extends Action {
  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    validator.present("ShardLevelMetrics")
    val named = call.fields.strings("ShardLevelMetrics").getOrElse(Vector.empty)
    if (call.fields.has("ShardLevelMetrics"))
      validator.size("ShardLevelMetrics", named.size, 1, EnhancedMonitoring.MaxListed)
    val stream = call.stream(validator)
    stream.requireActive()
    named.filterNot(n => n == "ALL" || EnhancedMonitoring.Metrics.contains(n)).foreach { unknown =>
      val allowed = (EnhancedMonitoring.Metrics + "ALL").toSeq.sorted.mkString(", ")
      throw ServiceError.validation(
        s"1 validation error detected: Value '[$unknown]' at 'shardLevelMetrics' failed to satisfy constraint: " +
          s"Member must satisfy constraint: [Member must satisfy enum value set: [$allowed]]"
      )
    }
    val chosen = if (named.contains("ALL")) EnhancedMonitoring.Metrics else named.toSet
    val before = stream.settings.shardMetrics
    val after = if (enables) before ++ chosen else before -- chosen
    Changes.of(call, stream)(stream.update(_.copy(shardMetrics = after)))
    Answer.body { reply =>
      reply.obj {
        reply.field("StreamName", stream.name)
        reply.strings("CurrentShardLevelMetrics", before.toSeq.sorted)
        reply.strings("DesiredShardLevelMetrics", after.toSeq.sorted)
        reply.field("StreamARN", stream.arn)
      }
    }
  }
}

private object EnhancedMonitoring {
  val MaxListed = 7
  val Metrics: Set[String] = Set(
    "IncomingBytes",
    "IncomingRecords",
    "OutgoingBytes",
    "OutgoingRecords",
    "WriteProvisionedThroughputExceeded",
    "ReadProvisionedThroughputExceeded",
    "IteratorAgeMilliseconds"
  )
}

object EnableEnhancedMonitoring extends EnhancedMonitoring(enables = true) {
  val name = "EnableEnhancedMonitoring"
}

object DisableEnhancedMonitoring extends EnhancedMonitoring(enables = false) {
  val name = "DisableEnhancedMonitoring"
}
