"""Test a standalone cluster whose executors get the connector's jar only from a session, with ADD JAR or
addArtifacts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from programs import SPARK_HOME, program, run
from spark_kinesis import KinesisEmulator
from standalone import StandaloneCluster

PROGRAM = """
import json, sys
from pyspark.sql import SparkSession
from spark_kinesis import KinesisSource, add_kinesis_to

endpoint, stream, folder, count = *sys.argv[1:4], int(sys.argv[4])
spark = add_kinesis_to(SparkSession.builder.getOrCreate())
source = KinesisSource(stream, endpoint=endpoint, region="us-east-1", aws_access_key="a", aws_secret_key="b")
source = source.initial_position("trim_horizon").consumer_mode("efo").consumer_name("jar").max_records_per_trigger(500)
writer = source.read_stream(spark).select("data").writeStream.format("parquet").trigger(availableNow=True)
query = writer.option("checkpointLocation", f"{folder}/checkpoint").start(f"{folder}/rows")
query.awaitTermination()
assert query.exception() is None, query.exception()
batches = [progress for progress in query.recentProgress if progress.numInputRows]
print(json.dumps({
    "rows": spark.read.parquet(f"{folder}/rows").distinct().count(),
    "batches": len(batches),
    "executors": batches[-1].sources[0].metrics["shardsByExecutor"].count(":"),
}))
"""

EXECUTORS = (
    *("--executor-memory", "640m", "--executor-cores", "1", "--total-executor-cores", "2"),
    *("--conf", "spark.ui.enabled=false", "--conf", "spark.driver.host=127.0.0.1"),
    # Otherwise the query may end before the second executor has started.
    *("--conf", "spark.scheduler.minRegisteredResourcesRatio=1.0"),
    *("--conf", "spark.scheduler.maxRegisteredResourcesWaitingTime=120s"),
)


@contextmanager
def connect_server(cluster: StandaloneCluster, folder: Path) -> Iterator[str]:
    """Start a Spark Connect server on the cluster without the connector's jar, and return its address."""
    log = folder / "connect.log"
    settings = ("--driver-memory", "1g", *EXECUTORS, "--conf", "spark.connect.grpc.binding.port=0")
    main = ("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_"))}
    with log.open("wb") as out:
        submit = SPARK_HOME / "bin" / "spark-submit"
        command = [str(submit), "--master", cluster.address, *settings, *main]
        environment["SPARK_LOCAL_IP"] = "127.0.0.1"
        server = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=environment)
    try:
        end = time.monotonic() + 120
        port = ""
        while not port:
            said = log.read_text(errors="replace")
            assert server.poll() is None, said[-4000:]
            assert time.monotonic() < end, said[-4000:]
            _, _, after = said.partition("Spark Connect server started at: ")
            port = after.splitlines()[0].rsplit(":", 1)[-1] if "\n" in after else ""
            time.sleep(0.1)
        yield f"sc://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(60)


@pytest.mark.parametrize("way", ["ADD JAR", "addArtifacts"])
def test_tasks_read_from_the_consumers_memory_with_a_jar_of_the_session(
    way: str, kinesis: KinesisEmulator, new_stream: Callable[..., str], tmp_path: Path
) -> None:
    count = 4000
    stream = new_stream(shards=4)
    kinesis.put_records(stream, ((f"key-{i % 97}", f"value {i}") for i in range(count)))
    arguments = (program(tmp_path, PROGRAM), kinesis.endpoint, stream, tmp_path, str(count))
    with StandaloneCluster(workers=2, cores=1, memory="1g", folder=tmp_path) as cluster:
        if way == "ADD JAR":
            submit = (SPARK_HOME / "bin" / "spark-submit", "--master", cluster.address, "--driver-memory", "1g")
            done = run([*submit, *EXECUTORS, *arguments], PYSPARK_DRIVER_PYTHON=sys.executable)
        else:
            with connect_server(cluster, tmp_path) as address:
                done = run([sys.executable, *arguments], SPARK_REMOTE=address)
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["rows"] == count
    assert said["executors"] == 2
    # The consumers use subscriptions, so GetRecords is called only by a task that does not find its rows in memory.
    calls = sum(
        call.count for call in kinesis.control.calls() if call.operation == "GetRecords" and call.stream == stream
    )
    assert said["batches"] >= 8
    assert calls < said["batches"]
