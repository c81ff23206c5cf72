"""The operations of the API model that botocore contains, and a valid request for each that the emulator supports."""

from __future__ import annotations

from typing import Any

import botocore.session

MODEL = botocore.session.get_session().get_service_model("kinesis")

# Operations for the delivery to tables and for queues, which the emulator does not support.
LEFT_OUT = {name for name in MODEL.operation_names if "Channel" in name or "Queue" in name}
OPERATIONS = sorted(set(MODEL.operation_names) - LEFT_OUT)

STREAM = "arn:aws:kinesis:us-east-1:123456789012:stream/model"


def base_requests(consumer_arn: str, iterator: str, number: str) -> dict[str, dict[str, Any]]:
    """Return a valid request for every operation, in an order in which each request succeeds."""
    by_name = {"StreamName": "model"}
    by_arn = {"StreamARN": STREAM}
    resource = {"ResourceARN": STREAM}
    shard = {"ShardId": "shardId-000000000000"}
    key = {"EncryptionType": "KMS", "KeyId": "alias/aws/kinesis"}
    entry = {"Data": "QQ==", "PartitionKey": "k", "ExplicitHashKey": "1"}
    return {
        "CreateStream": {
            "StreamName": "other",
            "ShardCount": 1,
            "StreamModeDetails": {"StreamMode": "PROVISIONED"},
            "Tags": {"k": "v"},
        },
        "DescribeStream": by_name,
        "DescribeStreamSummary": by_name,
        "ListStreams": {},
        "ListShards": {**by_name, "ShardFilter": {"Type": "AFTER_SHARD_ID", **shard}},
        "GetShardIterator": {
            **by_name,
            **shard,
            "ShardIteratorType": "AFTER_SEQUENCE_NUMBER",
            "StartingSequenceNumber": number,
        },
        "GetRecords": {"ShardIterator": iterator, "Limit": 10},
        "PutRecord": {**by_name, **entry, "SequenceNumberForOrdering": number},
        "PutRecords": {**by_name, "Records": [entry]},
        "SubscribeToShard": {
            "ConsumerARN": consumer_arn,
            **shard,
            "StartingPosition": {"Type": "AT_SEQUENCE_NUMBER", "SequenceNumber": number},
        },
        "DescribeStreamConsumer": {"ConsumerARN": consumer_arn},
        "ListStreamConsumers": by_arn,
        "RegisterStreamConsumer": {**by_arn, "ConsumerName": "second", "Tags": {"k": "v"}},
        "DeregisterStreamConsumer": {**by_arn, "ConsumerName": "second"},
        "TagResource": {**resource, "Tags": {"k": "v"}},
        "ListTagsForResource": resource,
        "UntagResource": {**resource, "TagKeys": ["k"]},
        "AddTagsToStream": {**by_name, "Tags": {"k": "v"}},
        "ListTagsForStream": by_name,
        "RemoveTagsFromStream": {**by_name, "TagKeys": ["k"]},
        "PutResourcePolicy": {**resource, "Policy": "{}"},
        "GetResourcePolicy": resource,
        "DeleteResourcePolicy": resource,
        "IncreaseStreamRetentionPeriod": {**by_name, "RetentionPeriodHours": 48},
        "DecreaseStreamRetentionPeriod": {**by_name, "RetentionPeriodHours": 24},
        "StartStreamEncryption": {**by_name, **key},
        "StopStreamEncryption": {**by_name, **key},
        "EnableEnhancedMonitoring": {**by_name, "ShardLevelMetrics": ["ALL"]},
        "DisableEnhancedMonitoring": {**by_name, "ShardLevelMetrics": ["IncomingBytes"]},
        "UpdateMaxRecordSize": {**by_arn, "MaxRecordSizeInKiB": 2048},
        "SplitShard": {**by_name, "ShardToSplit": shard["ShardId"], "NewStartingHashKey": "1000"},
        "MergeShards": {
            **by_name,
            "ShardToMerge": "shardId-000000000001",
            "AdjacentShardToMerge": "shardId-000000000002",
        },
        "UpdateShardCount": {**by_name, "TargetShardCount": 2, "ScalingType": "UNIFORM_SCALING"},
        "DescribeLimits": {},
        "UpdateAccountSettings": {"MinimumThroughputBillingCommitment": {"Status": "ENABLED"}},
        "DescribeAccountSettings": {},
        "UpdateStreamMode": {**by_arn, "StreamModeDetails": {"StreamMode": "ON_DEMAND"}},
        "UpdateStreamWarmThroughput": {**by_name, "WarmThroughputMiBps": 10},
        "UpdateStreamRecordDistributionStrategy": {**by_arn, "RecordDistributionStrategy": "USER_PARTITION_KEY"},
        "DeleteStream": {**by_name, "EnforceConsumerDeletion": True},
    }
