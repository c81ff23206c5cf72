"""Test every operation of the emulator with version 1 of the AWS CLI, which is on PyPI."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from operations import LEFT_OUT, missing
from spark_kinesis import KinesisEmulator

pytestmark = pytest.mark.usefixtures("calls_what_it_says")
exercises = pytest.mark.exercises

NO_STREAMS = {"SubscribeToShard": "the CLI has no command for it: it cannot print an event stream"}
POLICY = '{"Version":"2012-10-17"}'


class AwsCli:
    """Runs `aws kinesis …` commands against the emulator."""

    def __init__(self, endpoint: str, folder: Path, called: set[str]) -> None:
        self._endpoint = endpoint
        self._called = called
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_MAX_ATTEMPTS": "20",
        }
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("cli_driver.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self.version, names = self._answer()
        self.operations: dict[str, str] = {_command(name): name for name in names}

    def run(self, line: str, *more: str) -> tuple[int, str, str]:
        """Return exit code, output and errors of a command line, split at spaces, with `more` arguments after it."""
        command, *arguments = line.split()
        self._called.add(self.operations.get(command, command))
        words = ["kinesis", command, *arguments, *more, "--endpoint-url", self._endpoint, "--output", "json"]
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(words) + "\n")
        self._process.stdin.flush()
        code, out, errors = self._answer()
        return code, out, errors

    def __call__(self, line: str, *more: str) -> Any:
        code, out, errors = self.run(line, *more)
        assert code == 0, f"{line}: {errors}"
        return json.loads(out) if out else None

    def active(self, stream: str) -> dict[str, Any]:
        """Return the stream's summary once it is ACTIVE. The CLI's `wait` polls only every 10 s."""
        while True:
            summary: dict[str, Any] = self(f"describe-stream-summary --stream-name {stream}")[
                "StreamDescriptionSummary"
            ]
            if summary["StreamStatus"] == "ACTIVE":
                return summary

    def close(self) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        code = self._process.wait(60)
        self._process.stdout.close()
        return code

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())


def _command(operation: str) -> str:
    """Return the CLI's name of an operation: CreateStream is `create-stream`."""
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in operation).lstrip("-")


@pytest.fixture(scope="module")
def called() -> set[str]:
    return set()


@pytest.fixture(scope="module")
def aws(kinesis: KinesisEmulator, called: set[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[AwsCli]:
    cli = AwsCli(kinesis.endpoint, tmp_path_factory.mktemp("home"), called)
    yield cli
    assert cli.close() == 0


@exercises("CreateStream", "DescribeStream", "DescribeStreamSummary", "ListStreams", "DeleteStream", "DescribeLimits")
def test_streams(aws: AwsCli) -> None:
    aws("create-stream --stream-name cli-streams --shard-count 2")
    aws("wait stream-exists --stream-name cli-streams")
    arn = aws.active("cli-streams")["StreamARN"]
    assert aws("describe-stream --stream-name cli-streams")["StreamDescription"]["StreamARN"] == arn
    assert "cli-streams" in aws("list-streams")["StreamNames"]
    assert aws("describe-limits")["OpenShardCount"] >= 2
    aws("delete-stream --stream-name cli-streams")


@exercises("PutRecord", "PutRecords", "GetShardIterator", "GetRecords", "ListShards")
@exercises("SplitShard", "MergeShards", "UpdateShardCount")
def test_records_and_resharding(aws: AwsCli) -> None:
    stream = "--stream-name cli-records"
    aws(f"create-stream {stream} --shard-count 1")
    aws.active("cli-records")
    # Version 1 accepts raw bytes for a single record, and prints records as base64.
    put = aws(f"put-record {stream} --partition-key k", "--data", "from the shell")
    entries = [{"Data": f"entry {i}", "PartitionKey": str(i)} for i in range(3)]
    assert aws(f"put-records {stream}", "--records", json.dumps(entries))["FailedRecordCount"] == 0
    position = f"--shard-id {put['ShardId']} --shard-iterator-type TRIM_HORIZON"
    iterator = aws(f"get-shard-iterator {stream} {position}")["ShardIterator"]
    records = aws(f"get-records --shard-iterator {iterator}")["Records"]
    expected = ["from the shell", *(entry["Data"] for entry in entries)]
    assert [base64.b64decode(record["Data"]).decode() for record in records] == expected

    aws(f"split-shard {stream} --shard-to-split {put['ShardId']} --new-starting-hash-key 1000")
    assert aws.active("cli-records")["OpenShardCount"] == 2
    children = "--shard-to-merge shardId-000000000001 --adjacent-shard-to-merge shardId-000000000002"
    aws(f"merge-shards {stream} {children}")
    assert aws.active("cli-records")["OpenShardCount"] == 1
    aws(f"update-shard-count {stream} --target-shard-count 2 --scaling-type UNIFORM_SCALING")
    assert aws.active("cli-records")["OpenShardCount"] == 2
    assert len(aws(f"list-shards {stream}")["Shards"]) == 6
    page = aws(f"list-shards {stream} --max-results 4 --no-paginate")
    rest = aws(f"list-shards --next-token {page['NextToken']} --no-paginate")
    assert (len(page["Shards"]), len(rest["Shards"])) == (4, 2)
    aws(f"delete-stream {stream}")


@exercises("RegisterStreamConsumer", "DescribeStreamConsumer", "ListStreamConsumers", "DeregisterStreamConsumer")
@exercises("TagResource", "UntagResource", "ListTagsForResource")
@exercises("PutResourcePolicy", "GetResourcePolicy", "DeleteResourcePolicy")
def test_consumers_and_policies(aws: AwsCli) -> None:
    aws("create-stream --stream-name cli-consumers --shard-count 1")
    arn = aws.active("cli-consumers")["StreamARN"]
    named = f"--stream-arn {arn} --consumer-name c"
    consumer = aws(f"register-stream-consumer {named}")["Consumer"]["ConsumerARN"]
    while aws(f"describe-stream-consumer {named}")["ConsumerDescription"]["ConsumerStatus"] != "ACTIVE":
        pass
    assert len(aws(f"list-stream-consumers --stream-arn {arn}")["Consumers"]) == 1
    aws(f"tag-resource --resource-arn {consumer} --tags a=b")
    assert aws(f"list-tags-for-resource --resource-arn {consumer}")["Tags"] == [{"Key": "a", "Value": "b"}]
    aws(f"untag-resource --resource-arn {consumer} --tag-keys a")
    assert aws(f"list-tags-for-resource --resource-arn {consumer}")["Tags"] == []
    aws(f"put-resource-policy --resource-arn {arn}", "--policy", POLICY)
    assert aws(f"get-resource-policy --resource-arn {arn}")["Policy"] == POLICY
    aws(f"delete-resource-policy --resource-arn {arn}")
    aws(f"deregister-stream-consumer {named}")
    aws("delete-stream --stream-name cli-consumers --enforce-consumer-deletion")


@exercises("AddTagsToStream", "RemoveTagsFromStream", "ListTagsForStream")
@exercises("IncreaseStreamRetentionPeriod", "DecreaseStreamRetentionPeriod")
@exercises("StartStreamEncryption", "StopStreamEncryption", "UpdateMaxRecordSize")
@exercises("EnableEnhancedMonitoring", "DisableEnhancedMonitoring")
@exercises("UpdateAccountSettings", "DescribeAccountSettings", "UpdateStreamMode", "UpdateStreamWarmThroughput")
def test_settings(aws: AwsCli) -> None:
    stream = "--stream-name cli-settings"
    aws(f"create-stream {stream} --shard-count 1")
    arn = aws.active("cli-settings")["StreamARN"]
    aws(f"add-tags-to-stream {stream} --tags a=b,c=d")
    aws(f"remove-tags-from-stream {stream} --tag-keys a")
    assert aws(f"list-tags-for-stream {stream}")["Tags"] == [{"Key": "c", "Value": "d"}]
    aws(f"increase-stream-retention-period {stream} --retention-period-hours 48")
    assert aws.active("cli-settings")["RetentionPeriodHours"] == 48
    aws(f"decrease-stream-retention-period {stream} --retention-period-hours 24")
    assert aws.active("cli-settings")["RetentionPeriodHours"] == 24
    key = "--encryption-type KMS --key-id alias/aws/kinesis"
    aws(f"start-stream-encryption {stream} {key}")
    assert aws.active("cli-settings")["EncryptionType"] == "KMS"
    aws(f"stop-stream-encryption {stream} {key}")
    assert aws.active("cli-settings")["EncryptionType"] == "NONE"
    aws(f"enable-enhanced-monitoring {stream} --shard-level-metrics ALL")
    aws.active("cli-settings")
    aws(f"disable-enhanced-monitoring {stream} --shard-level-metrics IncomingBytes")
    assert len(aws.active("cli-settings")["EnhancedMonitoring"][0]["ShardLevelMetrics"]) == 6
    aws(f"update-max-record-size --stream-arn {arn} --max-record-size-in-ki-b 2048")
    assert aws.active("cli-settings")["MaxRecordSizeInKiB"] == 2048
    aws("update-account-settings --minimum-throughput-billing-commitment Status=ENABLED")
    assert aws("describe-account-settings")["MinimumThroughputBillingCommitment"]["Status"] == "ENABLED"
    aws(f"update-stream-mode --stream-arn {arn} --stream-mode-details StreamMode=ON_DEMAND")
    aws.active("cli-settings")
    aws(f"update-stream-warm-throughput {stream} --warm-throughput-mi-bps 10")
    assert aws.active("cli-settings")["WarmThroughput"]["TargetMiBps"] == 10
    aws(f"delete-stream {stream}")


def test_an_error_of_the_service_is_printed_with_its_name(aws: AwsCli) -> None:
    code, _, errors = aws.run("describe-stream --stream-name cli-missing")
    assert code == 255
    assert "ResourceNotFoundException" in errors


def test_every_operation_is_exercised_or_left_out_for_a_reason(aws: AwsCli) -> None:
    known = aws.operations.values()
    assert missing(sys.modules[__name__], known, {**LEFT_OUT, **NO_STREAMS}) == set()


def test_the_cli_still_does_not_support_the_listed_operations(aws: AwsCli) -> None:
    for operation in NO_STREAMS:
        code, _, errors = aws.run(_command(operation))
        assert (code, "Invalid choice" in errors) == (2, True), errors
