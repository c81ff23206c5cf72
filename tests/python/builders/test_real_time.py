"""Test that a query in real-time mode writes to a stream while Spark's check of sinks is on."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_kinesis import KinesisConnectorError, KinesisEmulator, KinesisSink, KinesisSource
from spark_kinesis.session import jvm_member

ALLOWLIST_CHECK = "spark.sql.streaming.realTimeMode.allowlistCheck"


def test_the_foreach_writer_passes_the_check_of_sinks_and_sends_rows_while_the_batch_runs(
    spark: SparkSession, kinesis: KinesisEmulator, new_stream: Callable[..., str], tmp_path: Path
) -> None:
    orders, copies = new_stream(), new_stream()
    kinesis.put_records(orders, [(f"customer-{i}", f"{i}") for i in range(10)])
    rows = KinesisSource(orders).on_emulator(kinesis).initial_position("trim_horizon").read_stream(spark)
    spark.conf.set(ALLOWLIST_CHECK, "true")
    sink = KinesisSink(copies).on_emulator(kinesis)
    writer = sink.real_time(rows.select("partitionKey", "data"), every="1 hour", keep_allowlist=True)
    query = writer.option("checkpointLocation", str(tmp_path)).start()
    try:
        deadline = time.monotonic() + 60
        while len(kinesis.records(copies)) < 10 and time.monotonic() < deadline:
            assert not query.awaitTermination(1)
    finally:
        query.stop()
    assert sorted(int(record.data) for record in kinesis.records(copies)) == list(range(10))
    assert spark.conf.get(ALLOWLIST_CHECK) == "true"
    progress = query.lastProgress
    assert progress is None or progress["batchId"] < 0, "the rows came before the end of the first batch"


def test_an_option_that_a_foreach_writer_cannot_have_is_an_error_with_its_condition(
    spark: SparkSession, kinesis: KinesisEmulator, new_stream: Callable[..., str]
) -> None:
    rows = spark.readStream.format("rate").load().selectExpr("string(value) AS partitionKey", "string(value) AS data")
    sink = KinesisSink(new_stream()).on_emulator(kinesis).ordering("key")
    with pytest.raises(KinesisConnectorError, match="distributeByKey") as caught:
        sink.real_time(rows, keep_allowlist=True)
    assert caught.value.condition == "KINESIS_OPTION_CONFLICT"


@pytest.mark.parametrize(
    ("owner", "name"),
    [("org.sparkkinesis.NoSuchClass", "of"), ("org.sparkkinesis.KinesisQueries", "noSuchMethod")],
)
def test_a_member_that_the_jvm_does_not_have_is_an_error_with_its_condition(
    spark: SparkSession, owner: str, name: str
) -> None:
    for jvm in (spark._jvm, None):
        with pytest.raises(KinesisConnectorError, match="Use another session") as caught:
            jvm_member(jvm, owner, name, setting="keep_allowlist", fix="Use another session.")
        assert caught.value.condition == "KINESIS_REAL_TIME_UNSUPPORTED"


def test_a_member_that_the_jvm_has_can_be_called(spark: SparkSession) -> None:
    assert jvm_member(spark._jvm, "java.lang.Math", "abs", setting="abs", fix="None.")(-3) == 3
