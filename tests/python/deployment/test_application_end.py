"""Test that programs which end in an orderly way leave no enhanced fan-out consumer behind, and that nothing hangs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from programs import program
from spark_kinesis import KinesisEmulator

PROGRAM = """
import sys
from pyspark.sql import SparkSession
from spark_kinesis import KinesisSource, configure_spark_with_kinesis

endpoint, stream, folder, end = sys.argv[1:]
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
spark = configure_spark_with_kinesis(builder).getOrCreate()
source = KinesisSource(stream, endpoint=endpoint, region="us-east-1", aws_access_key="a", aws_secret_key="b")
rows = source.initial_position("trim_horizon").consumer_mode("efo").consumer_name("etl").read_stream(spark)
writer = rows.writeStream.format("parquet").option("checkpointLocation", f"{folder}/checkpoint")
query = writer.option("path", f"{folder}/rows").start()
if end != "while it is registered":
    while not query.recentProgress:
        query.awaitTermination(0.1)
print("running", flush=True)
if end == "spark.stop()":
    spark.stop()
    print("stopped", flush=True)
elif end == "SIGINT":
    try:
        query.awaitTermination()
    except KeyboardInterrupt:
        print("interrupted", flush=True)
elif end == "while it is registered":
    spark.stop()
elif end != "the end of the program":
    query.awaitTermination()
"""


@contextmanager
def running(command: list[str | Path]) -> Iterator[subprocess.Popen[str]]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_"))}
    environment |= {"SPARK_LOCAL_IP": "127.0.0.1"}
    parts = [str(part) for part in command]
    # Without a new group, a signal would end the tests too.
    process = subprocess.Popen(
        parts, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment, start_new_session=True
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.parametrize(
    "end", ["spark.stop()", "the end of the program", "SIGTERM", "SIGINT", "while it is registered"]
)
def test_no_consumer_stays_registered(
    end: str, kinesis: KinesisEmulator, new_stream: Callable[..., str], tmp_path: Path
) -> None:
    stream = new_stream()
    kinesis.put_records(stream, [("k", "v")])
    arn = kinesis.client.call("DescribeStreamSummary", StreamName=stream)["StreamDescriptionSummary"]["StreamARN"]

    def consumers() -> list[str]:
        answer = kinesis.client.call("ListStreamConsumers", StreamARN=arn)
        return [consumer["ConsumerName"] for consumer in answer["Consumers"]]

    file = program(tmp_path, PROGRAM)
    with running([sys.executable, file, kinesis.endpoint, stream, tmp_path, end]) as process:
        assert process.stdout is not None
        assert any(line == "running\n" for line in iter(process.stdout.readline, ""))
        if end != "while it is registered":
            assert consumers() == ["etl"]
        if end in ("SIGTERM", "SIGINT"):
            process.send_signal(signal.SIGTERM if end == "SIGTERM" else signal.SIGINT)
        process.wait(60)
        # The JVM ends after the program.
        deadline = time.monotonic() + 60
        while consumers() and time.monotonic() < deadline:
            time.sleep(0.2)
        assert consumers() == []
