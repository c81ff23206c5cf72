"""Test that bad input is a clear error before a query starts and before any record moves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_kinesis import KinesisConnectorError, KinesisEmulator, KinesisSink, KinesisSource, condition_of


def _source(kinesis: KinesisEmulator, stream: str) -> KinesisSource:
    return KinesisSource(stream).on_emulator(kinesis)


def _sink(kinesis: KinesisEmulator, stream: str) -> KinesisSink:
    return KinesisSink(stream).on_emulator(kinesis)


@pytest.mark.parametrize(
    ("change", "condition", "says"),
    [
        (lambda s: s.option("maxRecordPerTriger", 5), "KINESIS_OPTION_UNKNOWN", "Did you mean 'maxRecordsPerTrigger'?"),
        (lambda s: s.region("frankfurt"), "KINESIS_OPTION_INVALID", "eu-central-1"),
        (lambda s: s.max_records_per_trigger(0), "KINESIS_OPTION_INVALID", "whole number of at least 1"),
        (lambda s: s.initial_position("yesterday"), "KINESIS_OPTION_INVALID", "1 hour ago"),
        (lambda s: s.endpoint("http://kinesis.example.com"), "KINESIS_OPTION_INVALID", "in the clear"),
        (lambda s: s.profile("me"), "KINESIS_OPTION_CONFLICT", "a source of credentials"),
        (lambda s: s.session_token("x").option("awsSecretKey", ""), "KINESIS_OPTION_INVALID", "It is empty"),
        (
            lambda s: s.stream_arn("arn:aws:kinesis:eu-central-1:123456789012:stream/a"),
            "KINESIS_OPTION_CONFLICT",
            "streamARN",
        ),
        (lambda s: s.consumer_mode("efo").registration("none"), "KINESIS_OPTION_MISSING", "consumerARN"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.startswith("KINESIS") else None,
)
def test_invalid_options_of_a_source_are_errors_before_the_query(
    change: Callable[[KinesisSource], KinesisSource],
    condition: str,
    says: str,
    kinesis: KinesisEmulator,
    new_stream: Callable[..., str],
    spark: SparkSession,
) -> None:
    source = change(_source(kinesis, new_stream()))
    with pytest.raises(KinesisConnectorError) as caught:
        source.read_stream(spark)
    assert caught.value.condition == condition
    assert says in str(caught.value)


def test_a_source_needs_a_stream(kinesis: KinesisEmulator, spark: SparkSession) -> None:
    with pytest.raises(KinesisConnectorError) as caught:
        KinesisSource().on_emulator(kinesis).read_stream(spark)
    assert caught.value.condition == "KINESIS_OPTION_MISSING"


def _failure(start: Callable[[], object]) -> BaseException:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - which class Spark wraps it in differs
        start()
    return caught.value


def _run(stream: DataFrame, checkpoint: Path) -> None:
    query = stream.writeStream.format("noop").option("checkpointLocation", str(checkpoint)).start()
    try:
        query.processAllAvailable()
    finally:
        query.stop()


def test_a_stream_that_does_not_exist(kinesis: KinesisEmulator, spark: SparkSession, tmp_path: Path) -> None:
    error = _failure(lambda: _run(_source(kinesis, "no-such-stream").read_stream(spark), tmp_path))
    assert condition_of(error) == "KINESIS_STREAM_NOT_FOUND"
    rows = spark.createDataFrame([("k", "v")], "partitionKey STRING, data STRING")
    error = _failure(lambda: _sink(kinesis, "no-such-stream").write(rows).save())
    assert condition_of(error) == "KINESIS_STREAM_NOT_FOUND"


@pytest.mark.parametrize(
    ("schema", "row", "says"),
    [
        ("partitionKey STRING", ("k",), "data"),
        ("partitionKey STRING, data INT", ("k", 1), "data"),
        ("partitionKey INT, data STRING", (1, "v"), "partitionKey"),
        ("data STRING", ("v",), "partitionKey"),
    ],
)
def test_rows_with_a_wrong_schema_are_an_error_and_nothing_is_written(
    schema: str,
    row: tuple[object, ...],
    says: str,
    kinesis: KinesisEmulator,
    new_stream: Callable[..., str],
    spark: SparkSession,
) -> None:
    stream = new_stream()
    error = _failure(lambda: _sink(kinesis, stream).write(spark.createDataFrame([row], schema)).save())
    assert says in str(error)
    assert kinesis.records(stream) == []


@pytest.mark.parametrize(
    ("key", "data", "says"),
    [
        ("", "v", "its partition key is empty"),
        ("k" * 257, "v", "256"),
        (None, "v", "its partition key is null"),
        ("k", None, "its column 'data' is null"),
        ("k", "x" * 1048577, "1048576"),
    ],
    ids=["empty key", "257-character key", "no key", "no data", "oversize"],
)
def test_an_invalid_row_fails_with_its_reason(
    key: str | None,
    data: str | None,
    says: str,
    kinesis: KinesisEmulator,
    new_stream: Callable[..., str],
    spark: SparkSession,
) -> None:
    stream = new_stream()
    rows = spark.createDataFrame([(key, data)], "partitionKey STRING, data STRING")
    error = _failure(lambda: _sink(kinesis, stream).write(rows).save())
    assert says in str(error)
    assert "xxxxxxxx" not in str(error)
    assert kinesis.records(stream) == []


def test_the_checkpoint_of_another_stream(
    kinesis: KinesisEmulator, new_stream: Callable[..., str], spark: SparkSession, tmp_path: Path
) -> None:
    first, second = new_stream(), new_stream()
    for stream in (first, second):
        kinesis.put_records(stream, [("k", "v")])
    _run(_source(kinesis, first).initial_position("trim_horizon").read_stream(spark), tmp_path)
    other = _source(kinesis, second).initial_position("trim_horizon").read_stream(spark)
    assert condition_of(_failure(lambda: _run(other, tmp_path))) == "KINESIS_CHECKPOINT_OTHER_STREAM"


def test_a_checkpoint_that_cannot_be_written(
    kinesis: KinesisEmulator, new_stream: Callable[..., str], spark: SparkSession, tmp_path: Path
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    stream = _source(kinesis, new_stream()).read_stream(spark)
    error = _failure(lambda: _run(stream, blocked / "checkpoint"))
    assert str(blocked) in str(error)


def test_a_user_specified_schema_is_an_error(
    kinesis: KinesisEmulator, new_stream: Callable[..., str], spark: SparkSession
) -> None:
    reader = spark.readStream.format("kinesis").schema("a STRING").options(**_source(kinesis, new_stream()).options())
    error = _failure(lambda: reader.load().select(F.col("a")))
    assert condition_of(error) == "KINESIS_TABLE_SCHEMA_GIVEN"
