"""Spark Connect: no JVM on this side, the jar by spark.jars on the server or by addArtifacts."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from programs import program, run
from spark_kinesis import KinesisEmulator

PROGRAM = """
import sys
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from spark_kinesis import KinesisConnectorError, KinesisSink, KinesisSource, add_kinesis_to
from spark_kinesis import configure_spark_with_kinesis
from spark_kinesis.session import is_connect

way, endpoint, read, written, checkpoint = sys.argv[1:]
builder = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false")
if way == "spark.jars":
    spark = configure_spark_with_kinesis(builder).getOrCreate()
else:
    spark = add_kinesis_to(builder.getOrCreate())
assert is_connect(spark)
here = dict(endpoint=endpoint, region="us-east-1", aws_access_key="a", aws_secret_key="b")

try:
    KinesisSource(read, **here).max_records_per_fetch(10001).read_stream(spark)
except KinesisConnectorError as error:
    print(error.condition)

print("rows:", KinesisSource(read, **here).read(spark).count())
counts = KinesisSource(read, initial_position="trim_horizon", **here).read_stream(spark).groupBy("partitionKey").count()
rows = counts.select("partitionKey", F.col("count").cast("string").alias("data"))
writer = KinesisSink(written, **here).write_stream(rows).outputMode("update").trigger(availableNow=True)
query = writer.option("checkpointLocation", checkpoint).start()
query.awaitTermination()
assert query.exception() is None, query.exception()
spark.stop()
"""


@pytest.mark.parametrize("way", ["spark.jars", "addArtifacts"])
def test_reading_and_writing_under_spark_connect(
    way: str, kinesis: KinesisEmulator, new_stream: Callable[..., str], tmp_path: Path
) -> None:
    read, written = new_stream(shards=2), new_stream()
    kinesis.put_records(read, [(f"key-{i % 3}", "v") for i in range(30)])
    file = program(tmp_path, PROGRAM)
    done = run([sys.executable, file, way, kinesis.endpoint, read, written, tmp_path / "checkpoint"])
    assert done.stdout.splitlines()[-2:] == ["KINESIS_OPTION_INVALID", "rows: 30"]
    counts: dict[str, int] = {}
    for record in kinesis.records(written):
        counts[record.partition_key] = max(int(record.data), counts.get(record.partition_key, 0))
    assert counts == {"key-0": 10, "key-1": 10, "key-2": 10}
