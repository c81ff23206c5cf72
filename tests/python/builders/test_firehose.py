"""Test the builder of the Firehose sink: its options, the JVM's check, and rows in the emulator's files."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_kinesis import FirehoseSink, KinesisConnectorError, KinesisEmulator
from spark_kinesis._generated import FirehoseKeywords, FirehoseMethods


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("deliveries")


@pytest.fixture(scope="module")
def emulator(folder: Path) -> Iterator[KinesisEmulator]:
    with KinesisEmulator(quotas=False, arguments=["--deliveries", str(folder)]) as started:
        yield started


def delivered(folder: Path, name: str) -> list[int]:
    return sorted(int(line) for file in (folder / name).rglob("*-1-*") for line in file.read_text().splitlines())


def test_keywords_and_methods_give_the_same_options() -> None:
    sink = FirehoseSink("archive", region="eu-central-1", max_time_in_buffer="5s")
    assert sink == FirehoseSink().delivery_stream_name("archive").region("eu-central-1").max_time_in_buffer("5s")
    assert sink.options() == {"deliveryStreamName": "archive", "region": "eu-central-1", "maxTimeInBuffer": "5s"}
    assert pickle.loads(pickle.dumps(sink)) == sink


def test_every_keyword_has_a_method_and_options_of_streams_do_not_exist() -> None:
    methods = {name for name, _ in inspect.getmembers(FirehoseMethods, inspect.isfunction)}
    assert FirehoseKeywords.__optional_keys__ <= methods
    assert not {"stream_name", "stream_arn", "partition_key", "aggregation"} & methods
    with pytest.raises(TypeError, match="has no option 'stream_name'"):
        FirehoseSink(stream_name="archive")  # type: ignore[call-arg]


def test_secrets_are_hidden() -> None:
    assert "s3cret" not in repr(FirehoseSink("archive", aws_access_key="AKIAX", aws_secret_key="s3cret"))


def test_the_jvm_checks_the_options_before_the_writer_is_made(spark: SparkSession) -> None:
    rows = spark.range(1)
    with pytest.raises(KinesisConnectorError, match="'deliveryStreamName'") as missing:
        FirehoseSink(region="eu-central-1").write(rows)
    assert missing.value.condition == "KINESIS_OPTION_MISSING"
    with pytest.raises(KinesisConnectorError, match="streamName") as unknown:
        FirehoseSink("archive", region="eu-central-1").option("streamName", "x").write(rows)
    assert unknown.value.condition == "KINESIS_OPTION_UNKNOWN"
    with pytest.raises(KinesisConnectorError, match="from 1k to 4m"):
        FirehoseSink("archive", region="eu-central-1").max_batch_bytes("5m").write(rows)


def test_the_rows_of_a_batch_are_delivered(spark: SparkSession, emulator: KinesisEmulator, folder: Path) -> None:
    emulator.control.create_delivery_stream("batch")
    rows = spark.range(1000).selectExpr("concat(id, '\\n') AS data")
    FirehoseSink("batch").on_emulator(emulator).write(rows).save()
    assert delivered(folder, "batch") == list(range(1000))


def test_the_rows_of_a_stream_are_delivered(
    spark: SparkSession, emulator: KinesisEmulator, folder: Path, tmp_path: Path
) -> None:
    emulator.control.create_delivery_stream("stream")
    spark.range(100).selectExpr("CAST(id AS STRING) AS value").write.text(str(tmp_path / "input"))
    lines = spark.readStream.text(str(tmp_path / "input")).selectExpr("concat(value, '\\n') AS data")
    query = (
        FirehoseSink("stream")
        .on_emulator(emulator)
        .write_stream(lines)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(120)
    assert delivered(folder, "stream") == list(range(100))
