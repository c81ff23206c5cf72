"""Reads a stream with enhanced fan-out while one of its shards is split, and prints how long records take.

Everything runs on this machine, against the embedded emulator. Exits with 1 when a record is missing or read twice.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from spark_kinesis import KinesisEmulator, KinesisSource, configure_spark_with_kinesis

LOG4J = Path(__file__).parent / "log4j2-quiet.properties"
LIMIT_SECONDS = 60


def main() -> int:
    """Run the example; 0 when each record was read once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=600, help="records to put, one every 10 ms")
    records = parser.parse_args().records
    with KinesisEmulator() as kinesis, tempfile.TemporaryDirectory() as checkpoint:
        spark = _session()
        try:
            return _run(spark, kinesis, checkpoint, records)
        finally:
            spark.stop()


def _run(spark: SparkSession, kinesis: KinesisEmulator, checkpoint: str, records: int) -> int:
    kinesis.create_stream("orders", shards=2)
    source = KinesisSource("orders", consumer_mode="efo", consumer_name="example").on_emulator(kinesis)
    seen: Counter[int] = Counter()
    delays: list[float] = []

    def collect(batch: DataFrame, _: int) -> None:
        rows = batch.selectExpr("CAST(data AS STRING) AS text").collect()
        now = time.time()
        for row in rows:
            number, sent = row.text.split(" ")
            seen[int(number)] += 1
            delays.append(1000 * (now - float(sent)))

    rows = source.initial_position("trim_horizon").read_stream(spark)
    query = rows.writeStream.option("checkpointLocation", checkpoint).foreachBatch(collect).start()
    try:
        for number in range(records):
            if number == records // 2:
                _split_first_shard(kinesis)
            kinesis.put_records("orders", [(f"customer-{number % 50}", f"{number} {time.time()}")])
            time.sleep(0.01)
        deadline = time.monotonic() + LIMIT_SECONDS
        while len(seen) < records and time.monotonic() < deadline and query.isActive:
            query.awaitTermination(0.2)  # type: ignore[arg-type]
    finally:
        query.stop()
    wrong = [number for number in range(records) if seen[number] != 1]
    steady = delays[len(delays) // 4 :]
    print(f"{sum(seen.values()):,} records read, {len(wrong)} of them missing or read twice")
    print(f"from PutRecords to foreachBatch: median {statistics.median(steady):.0f} ms, maximum {max(steady):.0f} ms")
    return 1 if wrong else 0


def _split_first_shard(kinesis: KinesisEmulator) -> None:
    shard = kinesis.client.shards("orders")[0]
    hash_keys = shard["HashKeyRange"]
    middle = (int(hash_keys["StartingHashKey"]) + int(hash_keys["EndingHashKey"])) // 2
    kinesis.client.call(
        "SplitShard", StreamName="orders", ShardToSplit=shard["ShardId"], NewStartingHashKey=str(middle)
    )
    print(f"{shard['ShardId']} is split into two children")


def _session() -> SparkSession:
    builder = (
        SparkSession.builder.appName("spark-kinesis fan-out")
        .master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile={LOG4J.as_uri()}")
    )
    return configure_spark_with_kinesis(builder).getOrCreate()


if __name__ == "__main__":
    sys.exit(main())
