"""The main job, end to end: put real text into a stream, count it with Spark over micro-batches, write the counts
into a second stream, and check them.

Everything runs on this machine, against the embedded emulator. Exits with 1 when a count is wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from progress_bar import ProgressBar
from real_text import words
from spark_kinesis import KinesisEmulator, KinesisSink, KinesisSource, configure_spark_with_kinesis

LOG4J = Path(__file__).parent / "log4j2-quiet.properties"


def main() -> int:
    """Run the job and return 0 when every count is right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000, help="number of words to put into the stream")
    parser.add_argument(
        "--stay", action="store_true", help="keep the pages of the emulator and of Spark open at the end"
    )
    parser.add_argument("--batches", type=int, default=10, help="minimum number of micro-batches")
    arguments = parser.parse_args()
    began = time.monotonic()
    print("Starting Spark and the emulator …", file=sys.stderr)
    with KinesisEmulator(quotas=False) as kinesis, tempfile.TemporaryDirectory() as checkpoint:
        spark = _session(with_ui=arguments.stay)
        try:
            result = _run(spark, kinesis, checkpoint, arguments.records, arguments.batches, began)
            if arguments.stay:
                _stay(spark, kinesis)
            return result
        finally:
            spark.stop()


def _run(spark: SparkSession, kinesis: KinesisEmulator, checkpoint: str, count: int, batches: int, began: float) -> int:
    text = words(count)
    expected = Counter(word for word, _ in text)
    kinesis.create_stream("words", shards=4)
    kinesis.create_stream("counts", shards=2)
    kinesis.put_records("words", text)

    started = time.monotonic()
    per_batch = -(-count // batches)
    source = KinesisSource("words").on_emulator(kinesis)
    lines = source.initial_position("trim_horizon").max_records_per_trigger(per_batch).read_stream(spark)
    sink = KinesisSink("counts", max_time_in_buffer="100ms").on_emulator(kinesis)
    query = sink.write_stream(_counts(lines)).outputMode("update").option("checkpointLocation", checkpoint).start()
    try:
        read, run, lag = _follow(query, count)
    finally:
        query.stop()
    seconds = time.monotonic() - started

    latest = _read_back(spark, kinesis)
    print(picture(latest))
    _summary(read, run, seconds, lag, len(expected), time.monotonic() - began)
    return verdict(expected, latest, count, read)


def verdict(expected: Mapping[str, int], written: Mapping[str, int], count: int, read: int) -> int:
    """Compare every count and print the result. Return 1 when a count differs."""
    wrong = sorted(word for word in expected.keys() | written.keys() if expected.get(word) != written.get(word))
    if read == count and not wrong:
        print(f"All {len(expected):,} counts are right.")
        return 0
    for word in wrong[:10]:
        print(f"  {word}: {written.get(word)} instead of {expected.get(word)}")
    print(f"WRONG: {read:,} of {count:,} records read, {len(wrong):,} of {len(expected):,} counts differ")
    return 1


def picture(counts: Mapping[str, int], lines: int = 8, width: int = 40) -> str:
    """Draw the greatest counts as bars."""
    most = sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:lines]
    longest = max((len(word) for word, _ in most), default=0)
    scale = width / max((count for _, count in most), default=1)
    rows = [f"  {word:>{longest}}  {'█' * max(1, round(count * scale))} {count:,}" for word, count in most]
    return "\n" + "\n".join(rows)


def _stay(spark: SparkSession, kinesis: KinesisEmulator) -> None:
    # A process that a shell starts in the background ignores the signal otherwise.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt):
        print(f"Emulator: {kinesis.endpoint}/")
        print(f"Spark:    {spark.sparkContext.uiWebUrl}/StreamingQuery/")
        print("Press Ctrl-C to end.", flush=True)
        threading.Event().wait()


def _session(*, with_ui: bool) -> SparkSession:
    builder = (
        SparkSession.builder.appName("spark-kinesis quick start")
        .master("local[*]")
        .config("spark.ui.enabled", str(with_ui).lower())
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile={LOG4J.as_uri()}")
    )
    return configure_spark_with_kinesis(builder).getOrCreate()


def _counts(lines: DataFrame) -> DataFrame:
    """Return a row for every word of a batch with its count so far."""
    counted = lines.groupBy("partitionKey").agg(F.count("*").alias("count"))
    return counted.select("partitionKey", F.to_json(F.struct("count")).alias("data"))


def _follow(query: StreamingQuery, count: int) -> tuple[int, int, str]:
    """Show the query's progress until it has read everything, and return its rows, its batches, and the lag at the
    end.
    """
    bar = ProgressBar("Counting", count)
    done: dict[int, int] = {}
    lag = "unknown"
    began = time.monotonic()
    while query.isActive and sum(done.values()) < count:
        query.awaitTermination(0.2)  # type: ignore[arg-type]
        for progress in query.recentProgress:
            # In pyspark 3.5, a progress is a dict without attributes.
            if progress["numInputRows"]:
                done[progress["batchId"]] = progress["numInputRows"]
                lag = progress["sources"][0].get("metrics", {}).get("maxMsBehindLatest", lag)
        rows = sum(done.values())
        bar.show(rows, f"{len(done)} batches, {rows / (time.monotonic() - began):,.0f} records/s")
    bar.close()
    error = query.exception()
    if error is not None:
        raise error
    return sum(done.values()), len(done), lag


def _read_back(spark: SparkSession, kinesis: KinesisEmulator) -> dict[str, int]:
    """Return the greatest count that was written for every word; counts only increase."""
    written = KinesisSource("counts").on_emulator(kinesis).read(spark)
    number = F.get_json_object(F.col("data").cast("string"), "$.count").cast("long")
    rows = written.groupBy("partitionKey").agg(F.max(number).alias("count")).collect()
    return {row["partitionKey"]: row["count"] for row in rows}


def _summary(read: int, batches: int, seconds: float, lag: str, keys: int, total: float) -> None:
    print(
        f"""
  Kinesis → Spark → Kinesis, on the embedded emulator

  records in      {read:>12,}   words of pyspark's documentation, 4 shards
  micro-batches   {batches:>12,}
  records/s       {read / seconds:>12,.0f}   from the start of the query to its last commit
  lag at the end  {lag:>12}   ms behind the tip of the stream
  keys counted    {keys:>12,}   read back from the second stream and compared
  total           {total:>12.1f}   seconds, with the start of Spark and of the emulator
"""
    )


if __name__ == "__main__":
    sys.exit(main())
