package org.sparkkinesis.emulator.action.stream

import org.sparkkinesis.emulator.action.call.{Action, Answer, Call, Patterns, Validator}
import org.sparkkinesis.emulator.action.tag.TagRules
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.quota.Quota
import org.sparkkinesis.emulator.engine.stream.{DataStream, StreamSettings}
import org.sparkkinesis.model.KinesisQuotas.{Count, Record}
import org.sparkkinesis.model.{KinesisQuotas, StreamStatus}

/** CreateStream creates a stream, which is CREATING for the configured delay and then ACTIVE. */
object CreateStream extends Action {
  val name = "CreateStream"

  override def run(call: Call): Answer = {
    val fields = call.fields
    val validator = new Validator(fields)
    val streamName = validator.requiredString("StreamName", Patterns.StreamName, Patterns.MaxName)
    val shardCount = validator.int("ShardCount", 1, Int.MaxValue)
    val maxRecord = validator.int("MaxRecordSizeInKiB", Record.MaxRecordSizeKiB.start, Record.MaxRecordSizeKiB.end)
    val warm = validator.int("WarmThroughputMiBps", 0, Int.MaxValue)
    TagRules.validate(fields, validator)
    val onDemand = StreamRules.onDemand(fields)
    val distribution = validator.oneOf("RecordDistributionStrategy", "AUTO", "USER_PARTITION_KEY")
    validator.check()
    call.streamName = streamName.get
    call.admit()
    val tags = TagRules.read(fields)
    TagRules.check(tags.keys.toSeq, tags.size)
    if (onDemand.contains(true) && shardCount.isDefined)
      throw ServiceError.invalidArgument("ShardCount must not be given for a stream in ON_DEMAND mode.")
    if (!onDemand.contains(true) && shardCount.isEmpty)
      throw ServiceError.invalidArgument("ShardCount must be given for a stream in PROVISIONED mode.")
    if (!onDemand.contains(true) && distribution.contains("AUTO"))
      throw ServiceError.invalidArgument("RecordDistributionStrategy AUTO needs a stream in ON_DEMAND mode.")

    val shards = shardCount.getOrElse(Count.OnDemandInitialShards)
    val settings = StreamSettings(
      onDemand = onDemand.contains(true),
      maxRecordKiB = maxRecord.getOrElse(Record.DefaultMaxBytes / KinesisQuotas.KiB),
      distributesItself = distribution.contains("AUTO"),
      warmThroughputMiBps = warm
    )
    checkLimits(call, settings, shards)
    val stream = call.namespace.add(streamName.get, settings)
    if (tags.nonEmpty) stream.updateTags(_ => tags)
    opening(call, stream, shards)
    Answer.Empty
  }

  private def opening(call: Call, stream: DataStream, shards: Int): Unit =
    stream.change(StreamStatus.Creating, call.engine.delays.create)(() => stream.open(shards, call.engine.clock.millis))

  private def checkLimits(call: Call, settings: StreamSettings, shards: Int): Unit = {
    val namespace = call.namespace
    val policy = call.engine.policy
    policy.limit(Quota.Streams, Count.StreamsCreatingAtOnce).foreach { limit =>
      if (namespace.streams.count(_.status == StreamStatus.Creating) >= limit)
        throw ServiceError.limitExceeded(
          s"At most ${limit.toInt} streams may be in the CREATING state at once under account ${namespace.account}."
        )
    }
    if (settings.onDemand) policy.limit(Quota.Streams, Count.OnDemandStreams).foreach { limit =>
      if (namespace.streams.count(_.settings.onDemand) >= limit)
        throw ServiceError.limitExceeded(
          s"This request would exceed the on-demand stream limit of ${limit.toInt} for account ${namespace.account}."
        )
    }
    StreamRules.checkShardLimit(namespace, shards)
  }
}
