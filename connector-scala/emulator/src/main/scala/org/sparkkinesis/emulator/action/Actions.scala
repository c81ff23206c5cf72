package org.sparkkinesis.emulator.action

import org.sparkkinesis.emulator.action.consumer._
import org.sparkkinesis.emulator.action.record._
import org.sparkkinesis.emulator.action.setting._
import org.sparkkinesis.emulator.action.shard._
import org.sparkkinesis.emulator.action.stream._
import org.sparkkinesis.emulator.action.tag._

/** Every operation that the emulator knows, by name. */
object Actions {
  val byName: Map[String, Action] = Seq[Action](
    CreateStream,
    DeleteStream,
    DescribeStream,
    DescribeStreamSummary,
    ListStreams,
    ListShards,
    GetShardIterator,
    SplitShard,
    MergeShards,
    UpdateShardCount,
    GetRecords,
    PutRecord,
    PutRecords,
    RegisterStreamConsumer,
    DeregisterStreamConsumer,
    DescribeStreamConsumer,
    ListStreamConsumers,
    SubscribeToShard,
    IncreaseStreamRetentionPeriod,
    DecreaseStreamRetentionPeriod,
    StartStreamEncryption,
    StopStreamEncryption,
    EnableEnhancedMonitoring,
    DisableEnhancedMonitoring,
    UpdateStreamMode,
    UpdateMaxRecordSize,
    UpdateStreamWarmThroughput,
    UpdateStreamRecordDistributionStrategy,
    DescribeLimits,
    DescribeAccountSettings,
    UpdateAccountSettings,
    PutResourcePolicy,
    GetResourcePolicy,
    DeleteResourcePolicy,
    AddTagsToStream,
    RemoveTagsFromStream,
    ListTagsForStream,
    TagResource,
    UntagResource,
    ListTagsForResource
  ).map(action => action.name -> action).toMap
}
