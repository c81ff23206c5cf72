"""Moves a running query from one stream to another, and counts every record.

The writer and the query know the logical stream "orders" only. A metadata document tells which physical stream that
is. Everything runs on this machine, against the embedded emulator. Exits with 1 when a record is missing, is read
twice, or is read before an earlier record of its key.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from spark_kinesis import KinesisEmulator, KinesisSource, PhysicalStream, StreamMetadata, configure_spark_with_kinesis

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

LOG4J = Path(__file__).parent / "log4j2-quiet.properties"
LIMIT_SECONDS = 90
KEYS = 50


def main() -> int:
    """Run the example; 0 when every record was read once and in order."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=3000, help="records to put, a third in each phase")
    records = parser.parse_args().records
    with KinesisEmulator() as kinesis, tempfile.TemporaryDirectory() as folder:
        spark = _session()
        try:
            return Migration(spark, kinesis, Path(folder)).run(records)
        finally:
            spark.stop()


class Migration:
    """One logical stream with its document, a writer, and a query."""

    def __init__(self, spark: SparkSession, kinesis: KinesisEmulator, folder: Path) -> None:
        """Create the two physical streams, and a document that has the first one."""
        self.spark, self.kinesis, self.folder = spark, kinesis, folder
        self.old, self.new = (self.create(name) for name in ("orders-old", "orders-new"))
        self.metadata = StreamMetadata(folder / "streams.json")
        self.put = 0
        self.rows: dict[int, list[tuple[str, int, str]]] = {}

    def create(self, name: str) -> str:
        """Create a stream and return its ARN."""
        self.kinesis.create_stream(name, shards=2)
        summary = self.kinesis.client.call("DescribeStreamSummary", StreamName=name)["StreamDescriptionSummary"]
        return str(summary["StreamARN"])

    def run(self, records: int) -> int:
        """Put a third of the records before, during and after the migration."""
        self.metadata.put("orders", [PhysicalStream(self.old)])
        query = self.start()
        try:
            self.write("orders-old", records // 3)
            self.wait(query, lambda: self.read() == self.put)
            print(f"{self.read()} records read from the old stream")
            self.metadata.put(
                "orders", [PhysicalStream(self.old, "draining"), PhysicalStream(self.new, after=(self.old,))]
            )
            # Writers learn of the change a little later than the query.
            self.write("orders-old", records // 6)
            self.write("orders-new", records // 6)
            self.wait(query, lambda: self.read() == self.put and self.metric(query, "streamsParked") == "1")
            print(f"{self.read()} records read, the old stream has no more")
            self.metadata.put("orders", [PhysicalStream(self.new)])
            self.write("orders-new", records - self.put)
            self.wait(query, lambda: self.read() == self.put)
        finally:
            query.stop()
        return self.verdict()

    def start(self) -> StreamingQuery:
        """Start the query on the logical stream."""
        source = (
            KinesisSource(stream_id="orders")
            .metadata(self.metadata.service, refresh="1s")
            .drain_grace("3s")
            .initial_position("trim_horizon")
            .on_emulator(self.kinesis)
        )
        rows = source.read_stream(self.spark).selectExpr(
            "partitionKey", "CAST(CAST(data AS STRING) AS LONG) AS number", "stream"
        )

        def collect(batch: DataFrame, batch_id: int) -> None:
            self.rows[batch_id] = [(row.partitionKey, row.number, row.stream) for row in batch.collect()]

        return (
            rows.writeStream.foreachBatch(collect)
            .option("checkpointLocation", str(self.folder / "checkpoint"))
            .trigger(processingTime="200 milliseconds")
            .start()
        )

    def write(self, stream: str, count: int) -> None:
        """Put numbered records; the numbers of a key ascend."""
        numbers = range(self.put, self.put + count)
        self.kinesis.put_records(stream, [(f"key-{n % KEYS}", str(n)) for n in numbers])
        self.put += count

    def read(self) -> int:
        """Return the number of rows so far."""
        return sum(len(rows) for rows in self.rows.values())

    def metric(self, query: StreamingQuery, name: str) -> str | None:
        """Return a metric of the source from the last progress."""
        progress = query.lastProgress
        if progress is None:
            return None
        value = progress["sources"][0].get("metrics", {}).get(name)
        return None if value is None else str(value)

    def wait(self, query: StreamingQuery, condition: Callable[[], bool]) -> None:
        """Wait for a condition that the query brings about."""
        deadline = time.monotonic() + LIMIT_SECONDS
        while not condition():
            if time.monotonic() > deadline or not query.isActive:
                raise TimeoutError(f"{self.read()} of {self.put} records read; {query.exception()}")
            query.awaitTermination(1)

    def verdict(self) -> int:
        """Print what was read, and compare it with what was put."""
        rows = [row for batch in sorted(self.rows) for row in self.rows[batch]]
        by_key: dict[str, list[int]] = defaultdict(list)
        by_stream: dict[str, int] = defaultdict(int)
        for key, number, stream in rows:
            by_key[key].append(number)
            by_stream[stream] += 1
        is_ordered = all(numbers == sorted(numbers) for numbers in by_key.values())
        is_exact = sorted(number for _, number, _ in rows) == list(range(self.put))
        for stream, count in sorted(by_stream.items()):
            print(f"{stream}: {count} records")
        print(f"{self.put} records put, {len(rows)} read, " + ("each once" if is_exact else "NOT each once"))
        print("each key in order" if is_ordered else "NOT each key in order")
        return 0 if is_exact and is_ordered else 1


def _session() -> SparkSession:
    builder = (
        SparkSession.builder.appName("spark-kinesis migration")
        .master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile={LOG4J.as_uri()}")
    )
    return configure_spark_with_kinesis(builder).getOrCreate()


if __name__ == "__main__":
    sys.exit(main())
