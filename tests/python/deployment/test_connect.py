"""Test Spark Connect: no JVM in the client, and the jar from spark.jars on the server or from addArtifacts."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from programs import program, run
from spark_kinesis import KinesisEmulator

PROGRAM = """
import sys, warnings
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from spark_kinesis import KinesisConnectorError, KinesisSink, KinesisSource, add_kinesis_to
from spark_kinesis import configure_spark_with_kinesis
from spark_kinesis.session import is_connect

way, endpoint, read, written, checkpoint = sys.argv[1:]
builder = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false")
here = dict(endpoint=endpoint, region="us-east-1", aws_access_key="a", aws_secret_key="b")

def show_error(make):
    try:
        make()
    except KinesisConnectorError as error:
        print(error)

if way == "spark.jars":
    spark = configure_spark_with_kinesis(builder).getOrCreate()
else:
    spark = builder.getOrCreate()
    show_error(lambda: KinesisSource(read, **here).read(spark))
    add_kinesis_to(spark)
assert is_connect(spark)

show_error(lambda: KinesisSource(read, **here).max_records_per_fetch(10001).read_stream(spark))
show_error(lambda: KinesisSource(read, **here).consumer_mode("efo").registration("none").read_stream(spark))
show_error(lambda: KinesisSink(written, **here).option("maxBatchSiz", 5).write(spark.range(1)))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    KinesisSource(read, **here).option("regionName", "us-east-1").read_stream(spark)
print(*[warning.message for warning in caught])

def condition_of_read(kind, **options):
    reader = spark.read.format("kinesis").options(**KinesisSource("nowhere", **here).options())
    try:
        reader.options(**options).load().collect()
    except kind as error:
        return error.getCondition()

print(condition_of_read(AnalysisException, regon="x"), condition_of_read(PySparkException))

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
    said = done.stdout.splitlines()[-6:]
    assert said[0].endswith("Fix: Set 'maxRecordsPerFetch' to a whole number from 1 to 10000.")
    assert said[1].startswith("[KINESIS_OPTION_MISSING]")
    assert said[2].endswith("Fix: Did you mean 'maxBatchSize'?")
    assert said[3].endswith("use 'region'.")
    assert said[4] == "KINESIS_OPTION_UNKNOWN KINESIS_STREAM_NOT_FOUND"
    assert said[5] == "rows: 30"
    assert ("[KINESIS_JAR_MISSING]" in done.stdout) == (way == "addArtifacts")
    counts: dict[str, int] = {}
    for record in kinesis.records(written):
        counts[record.partition_key] = max(int(record.data), counts.get(record.partition_key, 0))
    assert counts == {"key-0": 10, "key-1": 10, "key-2": 10}
