"""Test a standalone cluster of the pyspark package: two workers and four executors, one of which is killed during
the query.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from programs import SPARK_HOME, program, run
from spark_kinesis import KinesisEmulator, jar_path
from standalone import StandaloneCluster

PROGRAM = """
import json, os, signal, sys, time
from pathlib import Path
from pyspark.sql import SparkSession
from spark_kinesis import KinesisSource

endpoint, stream, folder, count = *sys.argv[1:4], int(sys.argv[4])
spark = SparkSession.builder.getOrCreate()

def executors():
    'Pids of the executors of this application.'
    mine = f"--app-id {spark.sparkContext.applicationId}"
    found = {}
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                words = (process / "cmdline").read_bytes().decode().replace(chr(0), " ")
            except OSError:
                continue
            if "CoarseGrainedExecutorBackend" in words and mine in words:
                found[int(process.name)] = words
    return sorted(found)

end = time.monotonic() + 180
while len(executors()) < 4 and time.monotonic() < end:
    time.sleep(0.2)
assert len(executors()) == 4, executors()

here = dict(endpoint=endpoint, region="us-east-1", aws_access_key="a", aws_secret_key="b")
source = KinesisSource(stream, initial_position="trim_horizon", max_records_per_trigger=count // 20, **here)
rows = source.read_stream(spark).select("shardId", "sequenceNumber", "partitionKey", "data")
query = rows.writeStream.format("parquet").option("checkpointLocation", f"{folder}/checkpoint").start(f"{folder}/rows")
killed = 0
done = {}
end = time.monotonic() + 180
while query.isActive and sum(done.values()) < count and time.monotonic() < end:
    done |= {p.batchId: p.numInputRows for p in query.recentProgress}
    if not killed and len([rows for rows in done.values() if rows]) >= 5:
        killed = executors()[0]
        os.kill(killed, signal.SIGKILL)
    query.awaitTermination(0.2)
query.stop()
assert query.exception() is None, query.exception()
written = spark.read.parquet(f"{folder}/rows")
print(json.dumps({
    "killed": killed > 0,
    "batches": len(done),
    "rows": written.count(),
    "distinct": written.select("shardId", "sequenceNumber").distinct().count(),
    "values": written.select("data").distinct().count(),
}))
"""


def test_counts_are_exact_although_an_executor_is_killed(
    kinesis: KinesisEmulator, new_stream: Callable[..., str], tmp_path: Path
) -> None:
    count = 100_000
    stream = new_stream(shards=8)
    kinesis.put_records(stream, ((f"key-{i % 997}", f"value {i}") for i in range(count)))
    with StandaloneCluster(workers=2, cores=2, memory="2g", folder=tmp_path) as cluster:
        done = run(
            [
                *(SPARK_HOME / "bin" / "spark-submit", "--master", cluster.address, "--jars", jar_path()),
                *("--driver-memory", "1g", "--executor-memory", "768m", "--executor-cores", "1"),
                *("--total-executor-cores", "4", "--conf", "spark.ui.enabled=false"),
                *("--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.sql.shuffle.partitions=4"),
                *(program(tmp_path, PROGRAM), kinesis.endpoint, stream, tmp_path, str(count)),
            ],
            PYSPARK_DRIVER_PYTHON=sys.executable,
        )
    assert done.stdout.splitlines()[-1].startswith('{"killed": true')
    assert f'"rows": {count}, "distinct": {count}, "values": {count}' in done.stdout
