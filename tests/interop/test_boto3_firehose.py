"""Test the operations of Amazon Data Firehose that the emulator has with boto3."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config

from spark_kinesis import KinesisEmulator

S3 = {
    "RoleARN": "arn:aws:iam::123456789012:role/delivery",
    "BucketARN": "arn:aws:s3:::bucket",
    "Prefix": "in/",
    "BufferingHints": {"SizeInMBs": 1, "IntervalInSeconds": 60},
}


def client_of(emulator: KinesisEmulator, secret: str = "secret") -> Any:
    return boto3.client(
        "firehose",
        endpoint_url=emulator.endpoint,
        region_name="us-east-1",
        aws_access_key_id="key",
        aws_secret_access_key=secret,
        config=Config(retries={"max_attempts": 1, "mode": "standard"}),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("deliveries")


@pytest.fixture(scope="module")
def emulator(folder: Path) -> Iterator[KinesisEmulator]:
    arguments = ["--deliveries", str(folder), "--credentials", "key:secret"]
    # A stream becomes active within some calls, of which the service accepts five per second.
    with KinesisEmulator(quotas=False, arguments=arguments) as started:
        yield started


@pytest.fixture
def client(emulator: KinesisEmulator) -> Any:
    return client_of(emulator)


def create(client: Any, name: str) -> None:
    client.create_delivery_stream(
        DeliveryStreamName=name, DeliveryStreamType="DirectPut", ExtendedS3DestinationConfiguration=S3
    )
    while describe(client, name)["DeliveryStreamStatus"] != "ACTIVE":
        pass


def describe(client: Any, name: str) -> dict[str, Any]:
    described: dict[str, Any] = client.describe_delivery_stream(DeliveryStreamName=name)["DeliveryStreamDescription"]
    return described


def test_a_delivery_stream_is_created_described_listed_and_deleted(client: Any) -> None:
    create(client, "described")
    described = describe(client, "described")
    assert described["DeliveryStreamARN"] == "arn:aws:firehose:us-east-1:123456789012:deliverystream/described"
    assert described["DeliveryStreamType"] == "DirectPut"
    destination = described["Destinations"][0]["ExtendedS3DestinationDescription"]
    assert {name: destination[name] for name in S3} == S3
    assert "described" in client.list_delivery_streams()["DeliveryStreamNames"]
    client.delete_delivery_stream(DeliveryStreamName="described")
    while "described" in client.list_delivery_streams()["DeliveryStreamNames"]:
        pass


def test_records_are_in_the_files_of_the_bucket(client: Any, folder: Path) -> None:
    create(client, "records")
    client.put_record(DeliveryStreamName="records", Record={"Data": b"one\n"})
    answer = client.put_record_batch(
        DeliveryStreamName="records", Records=[{"Data": b"%d\n" % number} for number in range(500)]
    )
    assert answer["FailedPutCount"] == 0
    assert len({response["RecordId"] for response in answer["RequestResponses"]}) == 500
    lines = [line for file in folder.rglob("records-1-*") for line in file.read_text().splitlines()]
    assert lines == ["one", *map(str, range(500))]


def test_a_fault_refuses_single_records(emulator: KinesisEmulator, client: Any) -> None:
    create(client, "faults")
    emulator.control.add_fault(
        "failEntries", operation="PutRecordBatch", errorType="ServiceUnavailableException", skip=1, count=1
    )
    answer = client.put_record_batch(DeliveryStreamName="faults", Records=[{"Data": b"a"}, {"Data": b"b"}])
    emulator.control.clear_faults()
    assert answer["FailedPutCount"] == 1
    assert "RecordId" in answer["RequestResponses"][0]
    assert answer["RequestResponses"][1]["ErrorCode"] == "ServiceUnavailableException"


def test_errors_have_the_services_types(emulator: KinesisEmulator, client: Any) -> None:
    with pytest.raises(client.exceptions.ResourceNotFoundException):
        client.put_record(DeliveryStreamName="missing", Record={"Data": b"x"})
    with pytest.raises(client.exceptions.InvalidArgumentException):
        client.create_delivery_stream(DeliveryStreamName="nowhere")
    create(client, "twice")
    with pytest.raises(client.exceptions.ResourceInUseException):
        create(client, "twice")
    with pytest.raises(client.exceptions.ClientError, match="InvalidSignatureException"):
        client_of(emulator, secret="wrong").list_delivery_streams()
