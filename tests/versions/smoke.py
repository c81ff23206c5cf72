"""Use the connector beside the Spark that this Python has: reads, writes, SQL, resharding, a kill and a restart.

`tests/versions/run --only smoke VERSION…` runs it, each version in an environment of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from spark_kinesis import (
    KinesisEmulator,
    KinesisSink,
    KinesisSource,
    condition_of,
    configure_spark_with_kinesis,
    jar_path,
)

QUERY = Path(__file__).parent / "smoke_query.py"
AS_TEXT = "CAST(data AS STRING) AS text"


def put(kinesis: KinesisEmulator, stream: str, numbers: range) -> None:
    kinesis.put_records(stream, [(f"key-{number % 17}", str(number)) for number in numbers])


def written(kinesis: KinesisEmulator, stream: str) -> Counter[str]:
    return Counter(record.data.decode() for record in kinesis.records(stream))


def split(kinesis: KinesisEmulator, stream: str) -> None:
    first = kinesis.client.shards(stream)[0]
    hashes = first["HashKeyRange"]
    middle = (int(hashes["StartingHashKey"]) + int(hashes["EndingHashKey"])) // 2
    kinesis.client.call("SplitShard", StreamName=stream, ShardToSplit=first["ShardId"], NewStartingHashKey=str(middle))
    kinesis.client.wait_until_active(stream)


def expected(numbers: range) -> Counter[str]:
    return Counter(str(number) for number in numbers)


def batch(spark: SparkSession, kinesis: KinesisEmulator) -> None:
    kinesis.create_stream("batch", 2)
    put(kinesis, "batch", range(500))
    rows = KinesisSource("batch").on_emulator(kinesis).read(spark).selectExpr(AS_TEXT).collect()
    assert Counter(row.text for row in rows) == expected(range(500))


def sql(spark: SparkSession, kinesis: KinesisEmulator) -> None:
    kinesis.create_stream("sql")
    options = {"streamName": "sql", **kinesis.connection}
    listed = ", ".join(f"{name} '{value}'" for name, value in options.items())
    spark.sql(f"CREATE TABLE numbers USING kinesis OPTIONS ({listed})")
    spark.sql("INSERT INTO numbers (data, partitionKey) SELECT CAST(CAST(id AS STRING) AS BINARY), 'k' FROM range(100)")
    # These need the connector's session extension.
    spark.sql("INSERT INTO numbers SELECT 'k', CAST(CAST(id AS STRING) AS BINARY) FROM range(100, 200)")
    assert written(kinesis, "sql") == expected(range(200))
    assert spark.sql("SELECT count(DISTINCT sequenceNumber) FROM numbers WHERE NOT aggregated").head()[0] == 200
    arguments = ", ".join(f"`{name}` => '{value}'" for name, value in options.items())
    assert spark.sql(f"SELECT count(DISTINCT sequenceNumber) FROM read_kinesis({arguments})").head()[0] == 200
    try:
        spark.sql("CREATE TABLE misspelt USING kinesis OPTIONS (streamNme 'x')")
    except AnalysisException as error:
        assert condition_of(error) == "KINESIS_OPTION_UNKNOWN", error
    else:
        raise AssertionError("no error")
    spark.sql("DROP TABLE numbers")


def stream(spark: SparkSession, kinesis: KinesisEmulator, name: str, source: KinesisSource) -> None:
    """Read with a reshard between two runs, and write what is read to another stream."""
    for created in (name, f"{name}-copy"):
        kinesis.create_stream(created, 2)
    rows = source.on_emulator(kinesis).initial_position("trim_horizon").read_stream(spark)
    sink = KinesisSink(f"{name}-copy").on_emulator(kinesis)
    with tempfile.TemporaryDirectory() as folder:
        writer = sink.write_stream(rows.select("partitionKey", "data")).option("checkpointLocation", folder)
        put(kinesis, name, range(300))
        query = writer.start()
        try:
            query.processAllAvailable()
            put(kinesis, name, range(300, 400))
            split(kinesis, name)
            put(kinesis, name, range(400, 600))
            query.processAllAvailable()
            assert query.lastProgress["sources"][0]["endOffset"], query.lastProgress
        finally:
            query.stop()
        put(kinesis, name, range(600, 700))
        last = writer.trigger(availableNow=True).start()
        last.awaitTermination()
    assert written(kinesis, f"{name}-copy") == expected(range(700)), written(kinesis, f"{name}-copy")


def polling(spark: SparkSession, kinesis: KinesisEmulator) -> None:
    stream(spark, kinesis, "polling", KinesisSource("polling"))


def fan_out(spark: SparkSession, kinesis: KinesisEmulator) -> None:
    stream(spark, kinesis, "fan-out", KinesisSource("fan-out").efo(consumer_name="smoke"))


def logical_stream(spark: SparkSession, kinesis: KinesisEmulator) -> None:
    arns = []
    for name in ("logical-old", "logical-new"):
        kinesis.create_stream(name)
        summary = kinesis.client.call("DescribeStreamSummary", StreamName=name)["StreamDescriptionSummary"]
        arns.append(summary["StreamARN"])
    put(kinesis, "logical-old", range(100))
    kinesis.control.set_metadata({"version": 1, "streams": {"logical": [{"arn": arns[0]}]}})
    source = KinesisSource(stream_id="logical").metadata(kinesis.metadata_url, refresh="1s").on_emulator(kinesis)
    rows = source.initial_position("trim_horizon").read_stream(spark).selectExpr(AS_TEXT)
    seen: Counter[str] = Counter()

    def collect(batch: DataFrame, _: int) -> None:
        seen.update(row.text for row in batch.collect())

    with tempfile.TemporaryDirectory() as folder:
        query = rows.writeStream.option("checkpointLocation", folder).foreachBatch(collect).start()
        try:
            query.processAllAvailable()
            assert seen == expected(range(100))
            both = [{"arn": arns[0]}, {"arn": arns[1], "startAt": "trim_horizon"}]
            kinesis.control.set_metadata({"version": 2, "streams": {"logical": both}})
            put(kinesis, "logical-new", range(100, 200))
            deadline = time.monotonic() + 60
            while len(seen) < 200 and time.monotonic() < deadline:
                # Returns at once, with the error, if the query has failed.
                query.awaitTermination(1)
        finally:
            query.stop()
    assert seen == expected(range(200)), seen


def kill_and_restart(_: SparkSession, kinesis: KinesisEmulator) -> None:
    """Kill the driver in the middle of a stream. The second run goes on, and each record is in the files once."""
    kinesis.create_stream("killed", 2)
    put(kinesis, "killed", range(2000))
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(QUERY), kinesis.endpoint, "killed", folder]
        with subprocess.Popen([*command, "50"], stdout=subprocess.PIPE, text=True) as first:
            assert first.stdout is not None
            # The program prints a line for each batch that is committed.
            for _ in range(3):
                assert first.stdout.readline(), "the program ended"
            first.kill()
        done = subprocess.run([*command, "1000"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-4000:]
        assert results(Path(folder)) == expected(range(2000))


def results(folder: Path) -> Counter[str]:
    """Return what Spark's file sink has committed, from the log of the sink."""
    files = []
    for log in (folder / "out" / "_spark_metadata").iterdir():
        if not log.name.startswith("."):
            files += [json.loads(line)["path"] for line in log.read_text().splitlines()[1:]]
    lines = [line for file in set(files) for line in Path(file.removeprefix("file://")).read_text().splitlines()]
    return Counter(json.loads(line)["text"] for line in lines)


def wrong_jar(jar: Path) -> None:
    """A session with the jar of another line of Spark still finds other formats, and says what is wrong."""
    spark = session(SparkSession.builder.config("spark.jars", str(jar)))
    assert spark.read.format("csv").load(str(QUERY)).count() > 0
    assert spark.readStream.format("rate").load().isStreaming
    try:
        spark.read.format("kinesis").option("streamName", "x").load()
    except Exception as error:
        message = str(error)
    else:
        raise AssertionError("no error")
    print(message.splitlines()[0])
    running = spark.version
    spark.stop()
    assert "KINESIS_JAR_OF_OTHER_SPARK" in message, message
    assert running in message, message
    assert jar.name.rsplit("-", 1)[0] in message, message


def session(builder: SparkSession.Builder) -> SparkSession:
    return (
        builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", tempfile.mkdtemp(prefix="smoke"))
        .getOrCreate()
    )


def main() -> None:
    """Run every check; an exception ends the program with status 1."""
    if sys.argv[1:2] == ["--wrong-jar"]:
        wrong_jar(Path(sys.argv[2]))
        return
    spark = session(configure_spark_with_kinesis(SparkSession.builder))
    spark.sparkContext.setLogLevel("ERROR")
    with KinesisEmulator(quotas=False) as kinesis:
        for check in (batch, sql, polling, fan_out, logical_stream, kill_and_restart):
            check(spark, kinesis)
            print(f"{check.__name__} passed", flush=True)
    print(f"Spark {spark.version} with {jar_path().name}: all passed")
    spark.stop()


if __name__ == "__main__":
    main()
