"""Test that a session that brings the jar to a long-lived Spark Connect server leaves no thread and no buffer there."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from connect_server import ConnectServer
from programs import program, run
from spark_kinesis import KinesisEmulator

PROGRAM = """
import sys
from pyspark.sql import SparkSession
from spark_kinesis import KinesisSink, KinesisSource, add_kinesis_to

endpoint, read, written, checkpoint = sys.argv[1:]
spark = add_kinesis_to(SparkSession.builder.getOrCreate())
here = dict(endpoint=endpoint, region="us-east-1", aws_access_key="a", aws_secret_key="b")
source = KinesisSource(read, initial_position="trim_horizon", **here)
print("rows:", source.read(spark).count())
rows = source.efo(consumer_name="ending").read_stream(spark).select("partitionKey", "data")
writer = KinesisSink(written, **here).write_stream(rows).option("checkpointLocation", checkpoint)
query = writer.trigger(availableNow=True).start()
query.awaitTermination()
assert query.exception() is None, query.exception()
spark.stop()
"""

# The clients are closed when they were idle for a minute, and threads end within some seconds after that.
SETTINGS = (
    *("--conf", "spark.ui.enabled=false"),
    *("--driver-java-options", "-Dorg.sparkkinesis.clients.idle=1s"),
)
OWN_THREADS = ("kinesis-", "sdk-", "aws-", "idle-connection-reaper", "globalEventExecutor")


def test_a_session_that_ends_leaves_no_thread_and_no_buffer_on_the_server(
    kinesis: KinesisEmulator, new_stream: Callable[..., str], tmp_path: Path
) -> None:
    read, written = new_stream(shards=2), new_stream()
    kinesis.put_records(read, [(f"key-{i}", "v") for i in range(20)])
    with ConnectServer("local[2]", tmp_path, SETTINGS) as server:
        arguments = (program(tmp_path, PROGRAM), kinesis.endpoint, read, written, tmp_path / "checkpoint")
        done = run([sys.executable, *arguments], SPARK_REMOTE=server.address)
        assert "rows: 20" in done.stdout
        assert len(kinesis.records(written)) == 20
        end = time.monotonic() + 60
        left = server.threads()
        assert any(name.startswith(OWN_THREADS) for name in left), "the clients were closed before the test looked"
        while left := {name for name in left if name.startswith(OWN_THREADS)}:
            assert time.monotonic() < end, left
            time.sleep(0.5)
            left = server.threads()
        assert server.instances("org.sparkkinesis.consume.PrefetchBuffer") == 0
        assert server.instances("org.sparkkinesis.spark.executor.ConsumerHost") == 0
