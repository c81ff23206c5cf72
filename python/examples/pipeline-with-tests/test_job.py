"""Tests of the job. The fixtures come with the package spark-kinesis; pytest finds them itself."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from job import orders, totals
from spark_kinesis import KinesisEmulator, KinesisSource


def test_totals_are_counted(spark_kinesis: SparkSession) -> None:
    rows = spark_kinesis.createDataFrame([("a", "book"), ("b", "lamp"), ("a", "chair")], ["customer", "item"])
    assert {row.customer: row.total for row in totals(rows).collect()} == {"a": 2, "b": 1}


def test_each_order_of_the_stream_is_counted_once(
    spark_kinesis: SparkSession, kinesis_emulator: KinesisEmulator, kinesis_stream: str, tmp_path: Path
) -> None:
    source = KinesisSource(kinesis_stream).on_emulator(kinesis_emulator)
    counts = totals(orders(spark_kinesis, source))
    for number in (1, 2):
        kinesis_emulator.put_records(kinesis_stream, [("a", f"book {number}"), ("b", f"lamp {number}")])
        query = (
            counts.writeStream.format("memory")
            .queryName(f"totals{number}")
            .outputMode("complete")
            .option("checkpointLocation", str(tmp_path))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
    rows = spark_kinesis.table("totals2").collect()
    assert {row.customer: row.total for row in rows} == {"a": 2, "b": 2}
