"""Test a standalone cluster whose executors get the connector's jar only from a session, with ADD JAR or
addArtifacts.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from connect_server import ConnectServer
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

# Both lives of the query copy the stream. The second one has nothing to do if the positions of the first one's tasks
# arrived at the driver, in the results of the tasks and in heartbeats.
REAL_TIME = """
import json, sys
from pyspark.sql import SparkSession
from spark_kinesis import KinesisSink, KinesisSource, add_kinesis_to

endpoint, stream, copies, folder, count = *sys.argv[1:5], int(sys.argv[5])
spark = add_kinesis_to(SparkSession.builder.getOrCreate())
service = {"endpoint": endpoint, "region": "us-east-1", "aws_access_key": "a", "aws_secret_key": "b"}
source = KinesisSource(stream, **service).initial_position("trim_horizon")
rows = source.consumer_mode("efo").consumer_name("jar").read_stream(spark).select("partitionKey", "data")
writer = KinesisSink(copies, **service).real_time(rows, every="5 seconds")

def life(wanted):
    query = writer.option("checkpointLocation", f"{folder}/checkpoint").start()
    read = -1
    while read < wanted:
        query.awaitTermination(0.2)
        assert query.isActive, query.exception()
        batches = query.recentProgress
        read = sum(int(batch.sources[0].metrics["realTimeRows"]) for batch in batches) if batches else -1
    query.stop()
    return read

print(json.dumps({"rows": [life(count), life(0)]}))
"""

EXECUTORS = (
    *("--executor-memory", "640m", "--executor-cores", "1", "--total-executor-cores", "2"),
    *("--conf", "spark.ui.enabled=false", "--conf", "spark.driver.host=127.0.0.1"),
    # Otherwise the query may end before the second executor has started.
    *("--conf", "spark.scheduler.minRegisteredResourcesRatio=1.0"),
    *("--conf", "spark.scheduler.maxRegisteredResourcesWaitingTime=120s"),
    # Heartbeats between the last row of a task and its end have the task's position in real-time mode.
    *("--conf", "spark.executor.heartbeatInterval=100ms"),
)


def run_on_cluster(way: str, cluster: StandaloneCluster, folder: Path, arguments: Sequence[str | Path]) -> str:
    """Run a program whose session adds the jar in this way. Return the output of the program and of the driver."""
    if way == "ADD JAR":
        submit = (SPARK_HOME / "bin" / "spark-submit", "--master", cluster.address, "--driver-memory", "1g")
        done = run([*submit, *EXECUTORS, *arguments], PYSPARK_DRIVER_PYTHON=sys.executable)
        return done.stderr + done.stdout
    with ConnectServer(cluster.address, folder, EXECUTORS) as server:
        done = run([sys.executable, *arguments], SPARK_REMOTE=server.address)
    return (folder / "connect.log").read_text(errors="replace") + done.stdout


@pytest.mark.parametrize("way", ["ADD JAR", "addArtifacts"])
def test_tasks_read_from_the_consumers_memory_with_a_jar_of_the_session(
    way: str, kinesis: KinesisEmulator, new_stream: Callable[..., str], tmp_path: Path
) -> None:
    count = 4000
    stream = new_stream(shards=4)
    kinesis.put_records(stream, ((f"key-{i % 97}", f"value {i}") for i in range(count)))
    arguments = (program(tmp_path, PROGRAM), kinesis.endpoint, stream, tmp_path, str(count))
    with StandaloneCluster(workers=2, cores=1, memory="1g", folder=tmp_path) as cluster:
        said = json.loads(run_on_cluster(way, cluster, tmp_path, arguments).splitlines()[-1])
    assert said["rows"] == count
    assert said["executors"] == 2
    # The consumers use subscriptions, so GetRecords is called only by a task that does not find its rows in memory.
    calls = sum(
        call.count for call in kinesis.control.calls() if call.operation == "GetRecords" and call.stream == stream
    )
    assert said["batches"] >= 8
    assert calls < said["batches"]


@pytest.mark.parametrize("way", ["ADD JAR", "addArtifacts"])
def test_real_time_batches_are_committed_with_a_jar_of_the_session(
    way: str, kinesis: KinesisEmulator, new_stream: Callable[..., str], tmp_path: Path
) -> None:
    count = 1000
    stream, copies = new_stream(shards=4), new_stream(shards=1)
    kinesis.put_records(stream, ((f"key-{i % 97}", f"value {i}") for i in range(count)))
    arguments = (program(tmp_path, REAL_TIME), kinesis.endpoint, stream, copies, tmp_path, str(count))
    with StandaloneCluster(workers=2, cores=1, memory="1g", folder=tmp_path) as cluster:
        output = run_on_cluster(way, cluster, tmp_path, arguments)
    assert json.loads(output.splitlines()[-1])["rows"] == [count, 0]
    # The driver reads what tasks send. Only the SQL tab looks for classes of the connector, and goes on without them.
    # So does Spark with the exception of a task that starts while its query stops: it keeps the text.
    missing = set(re.findall(r"ClassNotFoundException: (\S+)", output))
    metrics = set(re.findall(r"Unable to load custom metric object for class `([^`]+)`", output))
    failures = re.findall(r"Task exception could not be deserialized\s+\S*ClassNotFoundException: (\S+)", output)
    assert missing <= metrics.union(failures)
    assert len(kinesis.records(copies)) == count
