"""Writes the rows of each key in order while the stream refuses some of them, as a batch and as a stream.

The rows of a key come from several input partitions. Everything runs on this machine, against the embedded emulator.
Exits with 1 when rows of a key are missing or are stored in another order.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_kinesis import KinesisEmulator, KinesisSink, KinesisSource, configure_spark_with_kinesis

LOG4J = Path(__file__).parent / "log4j2-quiet.properties"
KEYS = 20


def main() -> int:
    """Run the example; 0 when the rows of each key were stored in order."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000, help="rows to write")
    count = parser.parse_args().rows
    with KinesisEmulator() as kinesis, tempfile.TemporaryDirectory() as checkpoint:
        spark = _session()
        try:
            return _run(spark, kinesis, checkpoint, count)
        finally:
            spark.stop()


def _run(spark: SparkSession, kinesis: KinesisEmulator, checkpoint: str, count: int) -> int:
    for stream in ("batch", "stream"):
        kinesis.create_stream(stream, shards=2)
    wrong = 0

    rows = spark.range(0, count, 1, 4).withColumnRenamed("id", "n").repartition(4)
    _sink("batch", kinesis).write(_keyed(rows)).save()
    wrong += _check("batch", kinesis, count)

    source = KinesisSource("batch").on_emulator(kinesis).initial_position("trim_horizon").read_stream(spark)
    numbers = source.select(F.col("data").cast("string").cast("long").alias("n")).repartition(4)
    writer = _sink("stream", kinesis).write_stream(_keyed(numbers)).option("checkpointLocation", checkpoint)
    writer.trigger(availableNow=True).start().awaitTermination()
    wrong += _check("stream", kinesis, count)
    return 1 if wrong else 0


def _sink(stream: str, kinesis: KinesisEmulator) -> KinesisSink:
    kinesis.control.add_fault(
        "failEntries",
        errorType="InternalFailure",
        operation="PutRecords",
        stream=stream,
        probability=0.01,
    )
    return KinesisSink(stream, ordering="key", order_by="n").on_emulator(kinesis)


def _keyed(numbers: DataFrame) -> DataFrame:
    key = F.concat(F.lit("key-"), F.col("n") % KEYS)
    return numbers.select(key.alias("partitionKey"), F.col("n").cast("string").alias("data"), F.col("n"))


def _check(stream: str, kinesis: KinesisEmulator, count: int) -> int:
    """Print and return how many keys lack rows or have them in another order."""
    stored: defaultdict[str, list[int]] = defaultdict(list)
    for record in kinesis.records(stream):
        stored[record.partition_key].append(int(record.data))
    expected = {f"key-{key}": list(range(key, count, KEYS)) for key in range(min(KEYS, count))}
    wrong = [key for key, numbers in expected.items() if stored[key] != numbers]
    print(f"{stream}: {sum(map(len, stored.values())):,} rows of {len(stored)} keys, {len(wrong)} keys out of order")
    return len(wrong)


def _session() -> SparkSession:
    builder = (
        SparkSession.builder.appName("spark-kinesis ordered writes")
        .master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile={LOG4J.as_uri()}")
    )
    return configure_spark_with_kinesis(builder).getOrCreate()


if __name__ == "__main__":
    sys.exit(main())
