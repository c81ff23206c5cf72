"""Test every operation of the emulator with boto3, the client of most scripts."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import botocore.session
import pytest
from botocore.config import Config

from operations import LEFT_OUT, missing
from spark_kinesis import KinesisEmulator

pytestmark = pytest.mark.usefixtures("calls_what_it_says")
exercises = pytest.mark.exercises
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def called() -> set[str]:
    return set()


@pytest.fixture(scope="module")
def client(kinesis: KinesisEmulator, called: set[str]) -> Any:
    client = boto3.client(
        "kinesis",
        endpoint_url=kinesis.endpoint,
        region_name="us-east-1",
        aws_access_key_id="key",
        aws_secret_access_key="secret",
        config=Config(retries={"max_attempts": 20, "mode": "standard"}, inject_host_prefix=False),
    )
    client.meta.events.register("before-call.kinesis.*", lambda model, **_: called.add(model.name))
    return client


@pytest.fixture
def new_stream(client: Any) -> Iterator[Callable[..., dict[str, Any]]]:
    """Create a stream that no other test uses, and return its summary."""
    names: list[str] = []

    def create(shards: int = 1, **settings: Any) -> dict[str, Any]:
        names.append(f"boto3-{next(_numbers)}")
        client.create_stream(StreamName=names[-1], ShardCount=shards, **settings)
        return active(client, names[-1])

    yield create
    for name in names:
        client.delete_stream(StreamName=name, EnforceConsumerDeletion=True)


def active(client: Any, name: str) -> dict[str, Any]:
    """Return the stream's summary once it is ACTIVE."""
    client.get_waiter("stream_exists").wait(StreamName=name, WaiterConfig={"Delay": 0.1, "MaxAttempts": 600})
    summary: dict[str, Any] = client.describe_stream_summary(StreamName=name)["StreamDescriptionSummary"]
    return summary


def read_all(client: Any, name: str, shard: str) -> list[bytes]:
    """Return the data of all records in the shard."""
    iterator = client.get_shard_iterator(StreamName=name, ShardId=shard, ShardIteratorType="TRIM_HORIZON")[
        "ShardIterator"
    ]
    read: list[bytes] = []
    while iterator is not None:
        answer = client.get_records(ShardIterator=iterator)
        read += [record["Data"] for record in answer["Records"]]
        iterator = answer.get("NextShardIterator") if answer["MillisBehindLatest"] > 0 else None
    return read


@exercises("CreateStream", "DescribeStream", "DescribeStreamSummary", "ListStreams", "DeleteStream", "DescribeLimits")
def test_streams(client: Any) -> None:
    before = client.describe_limits()["OpenShardCount"]
    client.create_stream(StreamName="boto3-streams", ShardCount=2)
    arn = active(client, "boto3-streams")["StreamARN"]
    described = client.describe_stream(StreamName="boto3-streams")["StreamDescription"]
    assert (described["StreamARN"], len(described["Shards"])) == (arn, 2)
    assert "boto3-streams" in client.list_streams()["StreamNames"]
    assert client.describe_limits()["OpenShardCount"] == before + 2
    client.delete_stream(StreamName="boto3-streams")
    gone = client.get_waiter("stream_not_exists")
    gone.wait(StreamName="boto3-streams", WaiterConfig={"Delay": 0.1, "MaxAttempts": 600})
    assert "boto3-streams" not in client.list_streams()["StreamNames"]


@exercises("PutRecord", "PutRecords", "ListShards", "GetShardIterator", "GetRecords")
def test_records(client: Any, new_stream: Callable[..., dict[str, Any]]) -> None:
    stream = new_stream(2)
    name = stream["StreamName"]
    put = client.put_record(StreamName=name, Data=b"one", PartitionKey="k", ExplicitHashKey="0")
    again = client.put_record(
        StreamName=name,
        Data=b"two",
        PartitionKey="k",
        ExplicitHashKey="0",
        SequenceNumberForOrdering=put["SequenceNumber"],
    )
    assert int(again["SequenceNumber"]) > int(put["SequenceNumber"])
    many = [b"%d" % i for i in range(100)]
    records = [{"Data": data, "PartitionKey": data.decode()} for data in many]
    assert client.put_records(StreamARN=stream["StreamARN"], Records=records)["FailedRecordCount"] == 0
    shards = [shard["ShardId"] for shard in client.list_shards(StreamName=name)["Shards"]]
    first, second = (read_all(client, name, shard) for shard in shards)
    assert first[:2] == [b"one", b"two"]
    assert sorted(first + second) == sorted([b"one", b"two", *many])


@exercises("RegisterStreamConsumer", "DescribeStreamConsumer", "ListStreamConsumers", "DeregisterStreamConsumer")
@exercises("SubscribeToShard", "TagResource", "UntagResource", "ListTagsForResource")
def test_consumers(client: Any, new_stream: Callable[..., dict[str, Any]]) -> None:
    stream = new_stream()
    client.put_record(StreamName=stream["StreamName"], Data=b"pushed", PartitionKey="k")
    registered = client.register_stream_consumer(
        StreamARN=stream["StreamARN"], ConsumerName="consumer", Tags={"x": "y"}
    )
    consumer = registered["Consumer"]["ConsumerARN"]
    while client.describe_stream_consumer(ConsumerARN=consumer)["ConsumerDescription"]["ConsumerStatus"] != "ACTIVE":
        pass
    listed = client.list_stream_consumers(StreamARN=stream["StreamARN"])["Consumers"]
    assert [c["ConsumerARN"] for c in listed] == [consumer]
    events = client.subscribe_to_shard(
        ConsumerARN=consumer, ShardId="shardId-000000000000", StartingPosition={"Type": "TRIM_HORIZON"}
    )["EventStream"]
    event = next(iter(events))["SubscribeToShardEvent"]
    assert [record["Data"] for record in event["Records"]] == [b"pushed"]
    assert event["MillisBehindLatest"] == 0
    events.close()
    client.tag_resource(ResourceARN=consumer, Tags={"t": "u"})
    tags = client.list_tags_for_resource(ResourceARN=consumer)["Tags"]
    assert tags == [{"Key": "t", "Value": "u"}, {"Key": "x", "Value": "y"}]
    client.untag_resource(ResourceARN=consumer, TagKeys=["t"])
    assert client.list_tags_for_resource(ResourceARN=consumer)["Tags"] == [{"Key": "x", "Value": "y"}]
    client.deregister_stream_consumer(ConsumerARN=consumer)


@exercises("SplitShard", "MergeShards", "UpdateShardCount")
def test_resharding(client: Any, new_stream: Callable[..., dict[str, Any]]) -> None:
    name = new_stream(2)["StreamName"]
    client.split_shard(StreamName=name, ShardToSplit="shardId-000000000000", NewStartingHashKey="1000000")
    assert active(client, name)["OpenShardCount"] == 3
    ids = [s["ShardId"] for s in client.list_shards(StreamName=name, ShardFilter={"Type": "AT_LATEST"})["Shards"]]
    assert ids == ["shardId-000000000001", "shardId-000000000002", "shardId-000000000003"]
    client.merge_shards(StreamName=name, ShardToMerge=ids[1], AdjacentShardToMerge=ids[2])
    assert active(client, name)["OpenShardCount"] == 2
    merged = client.list_shards(StreamName=name)["Shards"][-1]
    assert {merged["ParentShardId"], merged["AdjacentParentShardId"]} == set(ids[1:])
    client.update_shard_count(StreamName=name, TargetShardCount=4, ScalingType="UNIFORM_SCALING")
    assert active(client, name)["OpenShardCount"] == 4


@exercises("AddTagsToStream", "RemoveTagsFromStream", "ListTagsForStream")
@exercises("PutResourcePolicy", "GetResourcePolicy", "DeleteResourcePolicy")
def test_tags_and_policies(client: Any, new_stream: Callable[..., dict[str, Any]]) -> None:
    stream = new_stream(Tags={"a": "b"})
    name, arn = stream["StreamName"], stream["StreamARN"]
    client.add_tags_to_stream(StreamName=name, Tags={"c": "d"})
    client.remove_tags_from_stream(StreamName=name, TagKeys=["a"])
    assert client.list_tags_for_stream(StreamName=name)["Tags"] == [{"Key": "c", "Value": "d"}]
    policy = '{"Version":"2012-10-17"}'
    client.put_resource_policy(ResourceARN=arn, Policy=policy)
    assert client.get_resource_policy(ResourceARN=arn)["Policy"] == policy
    client.delete_resource_policy(ResourceARN=arn)
    assert client.get_resource_policy(ResourceARN=arn)["Policy"] != policy


@exercises("IncreaseStreamRetentionPeriod", "DecreaseStreamRetentionPeriod")
@exercises("StartStreamEncryption", "StopStreamEncryption", "UpdateMaxRecordSize")
@exercises("EnableEnhancedMonitoring", "DisableEnhancedMonitoring")
def test_settings(client: Any, new_stream: Callable[..., dict[str, Any]]) -> None:
    stream = new_stream()
    name = stream["StreamName"]
    client.increase_stream_retention_period(StreamName=name, RetentionPeriodHours=48)
    assert active(client, name)["RetentionPeriodHours"] == 48
    client.decrease_stream_retention_period(StreamName=name, RetentionPeriodHours=24)
    assert active(client, name)["RetentionPeriodHours"] == 24
    client.start_stream_encryption(StreamName=name, EncryptionType="KMS", KeyId="alias/aws/kinesis")
    assert active(client, name)["EncryptionType"] == "KMS"
    client.stop_stream_encryption(StreamName=name, EncryptionType="KMS", KeyId="alias/aws/kinesis")
    assert active(client, name)["EncryptionType"] == "NONE"
    client.enable_enhanced_monitoring(StreamName=name, ShardLevelMetrics=["ALL"])
    active(client, name)
    client.disable_enhanced_monitoring(StreamName=name, ShardLevelMetrics=["IncomingBytes"])
    assert len(active(client, name)["EnhancedMonitoring"][0]["ShardLevelMetrics"]) == 6
    client.update_max_record_size(StreamARN=stream["StreamARN"], MaxRecordSizeInKiB=2048)
    assert active(client, name)["MaxRecordSizeInKiB"] == 2048


@exercises("UpdateAccountSettings", "DescribeAccountSettings", "UpdateStreamMode")
@exercises("UpdateStreamWarmThroughput", "UpdateStreamRecordDistributionStrategy")
def test_capacity(client: Any, new_stream: Callable[..., dict[str, Any]]) -> None:
    stream = new_stream()
    name, arn = stream["StreamName"], stream["StreamARN"]
    client.update_account_settings(MinimumThroughputBillingCommitment={"Status": "ENABLED"})
    assert client.describe_account_settings()["MinimumThroughputBillingCommitment"]["Status"] == "ENABLED"
    client.update_stream_mode(StreamARN=arn, StreamModeDetails={"StreamMode": "ON_DEMAND"})
    assert active(client, name)["StreamModeDetails"]["StreamMode"] == "ON_DEMAND"
    client.update_stream_warm_throughput(StreamName=name, WarmThroughputMiBps=10)
    assert active(client, name)["WarmThroughput"]["TargetMiBps"] == 10
    client.update_stream_record_distribution_strategy(StreamARN=arn, RecordDistributionStrategy="AUTO")
    active(client, name)
    assert client.put_record(StreamName=name, Data=b"no key")["ShardId"].startswith("shardId-")


def test_errors_have_the_services_types(client: Any) -> None:
    with pytest.raises(client.exceptions.ResourceNotFoundException):
        client.put_record(StreamName="missing", Data=b"x", PartitionKey="k")
    with pytest.raises(client.exceptions.InvalidArgumentException):
        client.get_records(ShardIterator="nonsense")
    with pytest.raises(client.exceptions.ClientError, match="ValidationException"):
        client.create_stream(StreamName="bad name!", ShardCount=1)


def test_every_operation_is_exercised_or_left_out_for_a_reason() -> None:
    known = botocore.session.get_session().get_service_model("kinesis").operation_names
    assert missing(sys.modules[__name__], known, LEFT_OUT) == set()
    assert set(LEFT_OUT) <= set(known)
