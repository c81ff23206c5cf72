# Made from ConnectorUse; renew with: ./dev generate
"""The IAM actions and their resources that each use of the connector needs. Not meant to be edited."""

from __future__ import annotations

from collections.abc import Mapping

PERMISSIONS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "read": (
        ("kinesis:DescribeStreamSummary", "stream"),
        ("kinesis:ListShards", "stream"),
        ("kinesis:GetShardIterator", "stream"),
        ("kinesis:GetRecords", "stream"),
    ),
    "fan_out": (
        ("kinesis:DescribeStreamConsumer", "consumer"),
        ("kinesis:SubscribeToShard", "consumer"),
    ),
    "registration": (
        ("kinesis:RegisterStreamConsumer", "stream"),
        ("kinesis:DeregisterStreamConsumer", "consumer"),
    ),
    "pattern": (("kinesis:ListStreams", "*"),),
    "write": (
        ("kinesis:DescribeStreamSummary", "stream"),
        ("kinesis:PutRecords", "stream"),
    ),
    "shard_limits": (("kinesis:ListShards", "stream"),),
    "firehose": (("firehose:PutRecordBatch", "deliverystream"),),
}

KMS_ACTIONS: Mapping[str, str] = {
    "read": "kms:Decrypt",
    "write": "kms:GenerateDataKey",
}
