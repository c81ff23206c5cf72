"""Copies a stream to another one in Spark's real-time mode, and shows how long records take while it runs.

Then it stops the query gracefully and starts it again, which repeats nothing. Everything runs on this machine, against
the embedded emulator. Exits with 1 when a record is missing or written twice.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from pyspark.sql import SparkSession

from spark_kinesis import KinesisEmulator, KinesisSink, KinesisSource, configure_spark_with_kinesis, stop_gracefully

LOG4J = Path(__file__).parent / "log4j2-quiet.properties"
LIMIT_SECONDS = 60
FIRST = 0
BOUNDS = [2, 5, 10, 20, 50, 100, 200, 500, 1000]


def main() -> int:
    """Run the example; 0 when each record was written once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=3000, help="records to put, one every 10 ms")
    records = parser.parse_args().records
    with KinesisEmulator() as kinesis, tempfile.TemporaryDirectory() as checkpoint:
        spark = _session()
        try:
            return _run(spark, kinesis, checkpoint, records)
        finally:
            spark.stop()


def _run(spark: SparkSession, kinesis: KinesisEmulator, checkpoint: str, records: int) -> int:
    for name in ("orders", "copies"):
        kinesis.create_stream(name, shards=2)
    source = KinesisSource("orders").efo(consumer_name="example").on_emulator(kinesis)
    rows = source.initial_position("trim_horizon").read_stream(spark).select("partitionKey", "data")
    sink = KinesisSink("copies").on_emulator(kinesis)
    writer = sink.real_time(rows, every="5 seconds").option("checkpointLocation", checkpoint)
    query = writer.start()
    millis: dict[int, float] = {}
    copies: Counter[int] = Counter()

    def look_until(count: int) -> Counter[int]:
        """Wait until this number of records is copied."""
        deadline = time.monotonic() + LIMIT_SECONDS
        while len(found := _look(kinesis, millis)) < count and time.monotonic() < deadline and query.isActive:
            query.awaitTermination(1)
        return found

    try:
        # The time that Spark needs to start is not a latency: the first record only tells that the query runs.
        _put(kinesis, FIRST)
        look_until(1)
        print("milliseconds from PutRecords to the arrival in the second stream:")
        for number in range(FIRST + 1, records):
            _put(kinesis, number)
            time.sleep(0.01)
            if number % 500 == 499:
                _look(kinesis, millis)
                _show(millis)
        look_until(records)
        _show(millis)
        print("stopped gracefully, batch committed:", stop_gracefully(query, LIMIT_SECONDS))
        query = writer.start()
        _put(kinesis, records)
        copies = look_until(records + 1)
    finally:
        query.stop()
    wrong = [number for number in range(records + 1) if copies[number] != 1]
    print(f"{sum(copies.values()):,} records copied, {len(wrong)} of them missing or written twice")
    return 1 if wrong else 0


def _put(kinesis: KinesisEmulator, number: int) -> None:
    kinesis.put_records("orders", [(f"customer-{number % 50}", f"{number} {time.time()}")])


def _look(kinesis: KinesisEmulator, millis: dict[int, float]) -> Counter[int]:
    """Count the copies of each record, and note how long each one took; the service's times have milliseconds."""
    copies: Counter[int] = Counter()
    for record in kinesis.records("copies"):
        number, sent = record.data.decode().split(" ")
        copies[int(number)] += 1
        if int(number) != FIRST:
            millis[int(number)] = 1000 * (record.arrival - float(sent))
    return copies


def _show(millis: dict[int, float]) -> None:
    counts = Counter(next((bound for bound in BOUNDS if took <= bound), 0) for took in millis.values())
    for bound in [*BOUNDS, 0]:
        title = f"<= {bound}" if bound else f"> {BOUNDS[-1]}"
        if counts[bound]:
            share = counts[bound] / len(millis)
            print(f"  {title:>7} ms {'#' * max(1, round(50 * share)):50} {counts[bound]:,}")
    print()


def _session() -> SparkSession:
    builder = (
        SparkSession.builder.appName("spark-kinesis real-time")
        .master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile={LOG4J.as_uri()}")
    )
    return configure_spark_with_kinesis(builder).getOrCreate()


if __name__ == "__main__":
    sys.exit(main())
