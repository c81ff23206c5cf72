"""Exchange KPL containers between the project and the reference library `aws-kinesis-agg`, as golden bytes and
through a stream.

`GoldenContainersSuite` tests that the project's aggregator makes the same bytes, so the sink writes the containers
that the reference reads here.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from aws_kinesis_agg.aggregator import RecordAggregator
from aws_kinesis_agg.deaggregator import iter_deaggregate_records
from pyspark.sql import SparkSession

from golden_aggregates import GOLDEN, UserRecord, cases, rendered
from spark_kinesis import KinesisEmulator, KinesisSink, KinesisSource, configure_spark_with_kinesis

QUIET = Path(__file__).parents[2] / "python" / "examples" / "log4j2-quiet.properties"


def boto_record(data: bytes) -> dict[str, Any]:
    return {"SequenceNumber": "1", "PartitionKey": "a", "ApproximateArrivalTimestamp": 0, "Data": data}


def test_the_golden_file_equals_the_output_of_the_reference() -> None:
    assert GOLDEN.read_text(encoding="utf-8") == rendered(), "run: python tests/interop/golden_aggregates.py"


@pytest.mark.parametrize("case", cases())
def test_the_reference_reads_the_golden_container(case: str) -> None:
    golden = next(entry for entry in json.loads(GOLDEN.read_text(encoding="utf-8")) if entry["case"] == case)
    read = list(iter_deaggregate_records([boto_record(bytes.fromhex(golden["container"]))], data_format="Boto3"))
    users = [entry["kinesis"] for entry in read]
    found = [UserRecord(u["partitionKey"], base64.b64decode(u["data"]), u["explicitHashKey"]) for u in users]
    # The reference ignores whether a record has a hash key: records without one get the first hash key of the
    # container.
    first = next((record.hash_key for record in cases()[case] if record.hash_key is not None), None)
    assert found == [record._replace(hash_key=record.hash_key or first) for record in cases()[case]]


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile={QUIET.as_uri()}")
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
    )
    session = configure_spark_with_kinesis(builder).getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def client(kinesis: KinesisEmulator) -> Any:
    return boto3.client(
        "kinesis",
        endpoint_url=kinesis.endpoint,
        region_name="us-east-1",
        aws_access_key_id="key",
        aws_secret_access_key="secret",
    )


def test_the_source_reads_what_the_reference_packs(spark: SparkSession, kinesis: KinesisEmulator, client: Any) -> None:
    kinesis.create_stream("packed-by-reference", 1)
    aggregator = RecordAggregator(max_size=8192)
    packed = [aggregator.add_user_record(f"key-{i % 7}", f"value {i}") for i in range(2000)]
    packed.append(aggregator.clear_and_get())
    containers = [record.get_contents() for record in packed if record is not None]
    for key, _, data in containers:
        client.put_record(StreamName="packed-by-reference", PartitionKey=key, Data=data)
    source = KinesisSource("packed-by-reference").on_emulator(kinesis)
    rows = source.read(spark).selectExpr("partitionKey", "CAST(data AS STRING) AS value").collect()
    assert len(containers) > 1
    assert sorted(map(tuple, rows)) == sorted((f"key-{i % 7}", f"value {i}") for i in range(2000))


def test_the_reference_reads_what_the_sink_packs(spark: SparkSession, kinesis: KinesisEmulator, client: Any) -> None:
    kinesis.create_stream("packed-by-sink", 2)
    rows = spark.range(5000).selectExpr("concat('key-', id % 100) AS partitionKey", "concat('value ', id) AS data")
    KinesisSink("packed-by-sink", aggregation=True).on_emulator(kinesis).write(rows).mode("append").save()
    read: list[dict[str, Any]] = []
    containers = 0
    for shard in client.list_shards(StreamName="packed-by-sink")["Shards"]:
        position = {"ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
        iterator = client.get_shard_iterator(StreamName="packed-by-sink", **position)["ShardIterator"]
        records = client.get_records(ShardIterator=iterator)["Records"]
        containers += len(records)
        read += [entry["kinesis"] for entry in iter_deaggregate_records(records, data_format="Boto3")]
    found = [(entry["partitionKey"], base64.b64decode(entry["data"]).decode()) for entry in read]
    assert sorted(found) == sorted((f"key-{i % 100}", f"value {i}") for i in range(5000))
    assert containers < 500
