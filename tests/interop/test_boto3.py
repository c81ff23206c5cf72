"""Every operation of the emulator through boto3, the client that most scripts use."""

from __future__ import annotations

import time
from typing import Any

import pytest

boto3 = pytest.importorskip("boto3", reason="boto3 is not installed")
import botocore.session  # noqa: E402
from botocore.config import Config  # noqa: E402

# What the emulator leaves out: delivery to tables, and queues.
LEFT_OUT = ("Channel", "Queue")


@pytest.fixture(scope="module")
def client(endpoint: str) -> Any:
    return boto3.client(
        "kinesis",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="key",
        aws_secret_access_key="secret",
        config=Config(retries={"max_attempts": 10, "mode": "standard"}, inject_host_prefix=False),
    )


def active(client: Any, name: str) -> dict[str, Any]:
    for _ in range(100):
        summary = client.describe_stream_summary(StreamName=name)["StreamDescriptionSummary"]
        if summary["StreamStatus"] == "ACTIVE":
            return summary
        time.sleep(0.05)
    raise AssertionError(f"{name} did not become ACTIVE")


def consumer_active(client: Any, arn: str) -> None:
    for _ in range(100):
        if client.describe_stream_consumer(ConsumerARN=arn)["ConsumerDescription"]["ConsumerStatus"] == "ACTIVE":
            return
        time.sleep(0.05)
    raise AssertionError(f"{arn} did not become ACTIVE")


def test_every_operation(client: Any, called: set[str]) -> None:
    client.meta.events.register("before-call.kinesis.*", lambda model, **_: called.add(model.name))
    name = "boto3"
    client.create_stream(StreamName=name, ShardCount=2, Tags={"a": "b"})
    arn = active(client, name)["StreamARN"]
    assert client.describe_stream(StreamName=name)["StreamDescription"]["HasMoreShards"] is False
    assert name in client.list_streams()["StreamNames"]
    assert client.describe_limits()["OpenShardCount"] >= 2

    put = client.put_record(StreamName=name, Data=b"one", PartitionKey="k", ExplicitHashKey="0")
    again = client.put_record(
        StreamName=name,
        Data=b"two",
        PartitionKey="k",
        ExplicitHashKey="0",
        SequenceNumberForOrdering=put["SequenceNumber"],
    )
    assert int(again["SequenceNumber"]) > int(put["SequenceNumber"])
    many = client.put_records(StreamARN=arn, Records=[{"Data": b"%d" % i, "PartitionKey": str(i)} for i in range(100)])
    assert many["FailedRecordCount"] == 0

    shards = client.list_shards(StreamName=name)["Shards"]
    read = 0
    for shard in shards:
        iterator = client.get_shard_iterator(
            StreamName=name, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        read += len(client.get_records(ShardIterator=iterator)["Records"])
    assert read == 102

    consumer = client.register_stream_consumer(StreamARN=arn, ConsumerName="c", Tags={"x": "y"})["Consumer"]
    consumer_active(client, consumer["ConsumerARN"])
    assert len(client.list_stream_consumers(StreamARN=arn)["Consumers"]) == 1
    stream = client.subscribe_to_shard(
        ConsumerARN=consumer["ConsumerARN"],
        ShardId=shards[0]["ShardId"],
        StartingPosition={"Type": "TRIM_HORIZON"},
    )["EventStream"]
    event = next(iter(stream))["SubscribeToShardEvent"]
    assert [r["Data"] for r in event["Records"]][:2] == [b"one", b"two"]
    stream.close()
    client.tag_resource(ResourceARN=consumer["ConsumerARN"], Tags={"t": "u"})
    tags = client.list_tags_for_resource(ResourceARN=consumer["ConsumerARN"])["Tags"]
    assert tags == [{"Key": "t", "Value": "u"}, {"Key": "x", "Value": "y"}]
    client.untag_resource(ResourceARN=consumer["ConsumerARN"], TagKeys=["t"])
    client.deregister_stream_consumer(ConsumerARN=consumer["ConsumerARN"])

    client.split_shard(StreamName=name, ShardToSplit=shards[0]["ShardId"], NewStartingHashKey="1000000")
    active(client, name)
    open_shards = client.list_shards(StreamName=name, ShardFilter={"Type": "AT_LATEST"})["Shards"]
    assert len(open_shards) == 3
    client.merge_shards(
        StreamName=name,
        ShardToMerge=open_shards[1]["ShardId"],
        AdjacentShardToMerge=open_shards[2]["ShardId"],
    )
    active(client, name)
    client.update_shard_count(StreamName=name, TargetShardCount=4, ScalingType="UNIFORM_SCALING")
    assert active(client, name)["OpenShardCount"] == 4

    client.add_tags_to_stream(StreamName=name, Tags={"c": "d"})
    client.remove_tags_from_stream(StreamName=name, TagKeys=["a"])
    assert client.list_tags_for_stream(StreamName=name)["Tags"] == [{"Key": "c", "Value": "d"}]
    client.increase_stream_retention_period(StreamName=name, RetentionPeriodHours=48)
    active(client, name)
    client.decrease_stream_retention_period(StreamName=name, RetentionPeriodHours=24)
    active(client, name)
    client.start_stream_encryption(StreamName=name, EncryptionType="KMS", KeyId="alias/aws/kinesis")
    assert active(client, name)["EncryptionType"] == "KMS"
    client.stop_stream_encryption(StreamName=name, EncryptionType="KMS", KeyId="alias/aws/kinesis")
    active(client, name)
    client.enable_enhanced_monitoring(StreamName=name, ShardLevelMetrics=["ALL"])
    active(client, name)
    client.disable_enhanced_monitoring(StreamName=name, ShardLevelMetrics=["IncomingBytes"])
    assert len(active(client, name)["EnhancedMonitoring"][0]["ShardLevelMetrics"]) == 6
    client.update_max_record_size(StreamARN=arn, MaxRecordSizeInKiB=2048)
    assert active(client, name)["MaxRecordSizeInKiB"] == 2048
    client.put_resource_policy(ResourceARN=arn, Policy='{"Version":"2012-10-17"}')
    assert client.get_resource_policy(ResourceARN=arn)["Policy"] == '{"Version":"2012-10-17"}'
    client.delete_resource_policy(ResourceARN=arn)
    client.update_account_settings(MinimumThroughputBillingCommitment={"Status": "ENABLED"})
    assert client.describe_account_settings()["MinimumThroughputBillingCommitment"]["Status"] == "ENABLED"
    client.update_stream_mode(StreamARN=arn, StreamModeDetails={"StreamMode": "ON_DEMAND"})
    active(client, name)
    client.update_stream_warm_throughput(StreamName=name, WarmThroughputMiBps=10)
    active(client, name)
    client.update_stream_record_distribution_strategy(StreamARN=arn, RecordDistributionStrategy="AUTO")
    active(client, name)
    client.put_record(StreamName=name, Data=b"no key")
    client.delete_stream(StreamName=name, EnforceConsumerDeletion=True)


def test_nothing_that_is_not_left_out_was_missed(called: set[str]) -> None:
    model = botocore.session.get_session().get_service_model("kinesis")
    wanted = {name for name in model.operation_names if not any(part in name for part in LEFT_OUT)}
    assert wanted - called == set()


def test_errors_have_the_services_types(client: Any) -> None:
    with pytest.raises(client.exceptions.ResourceNotFoundException):
        client.put_record(StreamName="missing", Data=b"x", PartitionKey="k")
    with pytest.raises(client.exceptions.InvalidArgumentException):
        client.get_records(ShardIterator="nonsense")
    with pytest.raises(client.exceptions.ClientError, match="ValidationException"):
        client.create_stream(StreamName="bad name!", ShardCount=1)
