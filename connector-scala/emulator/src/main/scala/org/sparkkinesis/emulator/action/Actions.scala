package org.sparkkinesis.emulator.action

import org.sparkkinesis.emulator.action.call.Action
import org.sparkkinesis.emulator.action.consumer.{
  DeregisterStreamConsumer, DescribeStreamConsumer, ListStreamConsumers, RegisterStreamConsumer, SubscribeToShard
}
import org.sparkkinesis.emulator.action.delivery.{
  CreateDeliveryStream, DeleteDeliveryStream, DescribeDeliveryStream, ListDeliveryStreams, PutDeliveryRecord,
  PutRecordBatch
}
import org.sparkkinesis.emulator.action.record.{GetRecords, PutRecord, PutRecords}
import org.sparkkinesis.emulator.action.setting.{
  DecreaseStreamRetentionPeriod, DeleteResourcePolicy, DescribeAccountSettings, DescribeLimits,
  DisableEnhancedMonitoring, EnableEnhancedMonitoring, GetResourcePolicy, IncreaseStreamRetentionPeriod,
  PutResourcePolicy, StartStreamEncryption, StopStreamEncryption, UpdateAccountSettings, UpdateMaxRecordSize,
  UpdateStreamMode, UpdateStreamRecordDistributionStrategy, UpdateStreamWarmThroughput
}
import org.sparkkinesis.emulator.action.shard.{GetShardIterator, ListShards, MergeShards, SplitShard, UpdateShardCount}
import org.sparkkinesis.emulator.action.stream.{
  CreateStream, DeleteStream, DescribeStream, DescribeStreamSummary, ListStreams
}
import org.sparkkinesis.emulator.action.tag.{
  AddTagsToStream, ListTagsForResource, ListTagsForStream, RemoveTagsFromStream, TagResource, UntagResource
}

/** All operations that the emulator supports, by the target that requests name. */
object Actions {
  private val ofKinesis = Seq[Action](
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
  )

  private val ofFirehose = Seq[Action](
    CreateDeliveryStream,
    DeleteDeliveryStream,
    DescribeDeliveryStream,
    ListDeliveryStreams,
    PutDeliveryRecord,
    PutRecordBatch
  )

  val byTarget: Map[String, Action] =
    (ofKinesis.map(action => s"Kinesis_20131202.${action.name}" -> action) ++
      ofFirehose.map(action => s"Firehose_20150804.${action.name}" -> action)).toMap
}
