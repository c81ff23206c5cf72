"""Ten typical mistakes in SQL, Python and Scala, and the errors that a user then sees: pytest -rP prints them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from spark_kinesis import KinesisEmulator, KinesisSink, KinesisSource, condition_of


@dataclass(frozen=True)
class Place:
    """Where a user makes the mistake: a session, an emulator with the streams, and a table of the first of them."""

    spark: SparkSession
    kinesis: KinesisEmulator
    stream: str
    other: str
    table: str
    folder: Path

    def source(self, stream: str) -> KinesisSource:
        return KinesisSource(stream, initial_position="trim_horizon").on_emulator(self.kinesis)

    def sink(self, stream: str) -> KinesisSink:
        return KinesisSink(stream).on_emulator(self.kinesis)

    def run_in_scala(self, rows: Any) -> None:
        """Run a streaming query by the API of the JVM, as Scala and Java do."""
        writer = rows.writeStream().format("noop").option("checkpointLocation", str(self.folder))
        query = writer.start()
        try:
            query.processAllAvailable()
        finally:
            query.stop()

    def jvm(self, reader: Any, builder: KinesisSource | KinesisSink) -> Any:
        """Return a reader or writer of the JVM with the options of a builder."""
        for name, value in builder.options().items():
            reader.option(name, value)
        return reader


@pytest.fixture
def place(
    spark: SparkSession, kinesis: KinesisEmulator, new_stream: Callable[..., str], tmp_path: Path
) -> Iterator[Place]:
    stream, other = new_stream(), new_stream()
    for name in (stream, other):
        kinesis.put_records(name, [("k", "v")])
    table = stream.replace("-", "_")
    here = f"region 'us-east-1', endpoint '{kinesis.endpoint}', awsAccessKey 'a', awsSecretKey 'b'"
    spark.sql(f"CREATE TABLE {table} USING kinesis OPTIONS (streamName '{stream}', {here})")
    yield Place(spark, kinesis, stream, other, table, tmp_path / "checkpoint")
    spark.sql(f"DROP TABLE {table}")


def sql(statement: str) -> Callable[[Place], object]:
    return lambda place: place.spark.sql(statement.format(table=place.table)).collect()


def read_nothing(place: Place) -> None:
    place.source("nowhere").read(place.spark).count()


def write_to_source(place: Place) -> None:
    rows = place.source(place.stream).read_stream(place.spark).select("partitionKey", "data")
    query = place.sink(place.stream).write_stream(rows).option("checkpointLocation", str(place.folder)).start()
    try:
        query.processAllAvailable()
    finally:
        query.stop()


def write_long_key(place: Place) -> None:
    place.sink(place.stream).write(place.spark.sql("SELECT repeat('k', 300) AS partitionKey, 'v' AS data")).save()


def scala_number_as_key(place: Place) -> None:
    rows = place.spark.sql("SELECT 1 AS partitionKey, 'v' AS data")._jdf
    place.jvm(rows.write().format("kinesis").mode("append"), place.sink(place.stream)).save()


def scala_other_checkpoint(place: Place) -> None:
    for stream in (place.stream, place.other):
        reader = place.spark._jsparkSession.readStream().format("kinesis")
        place.run_in_scala(place.jvm(reader, place.source(stream)).load())


def scala_own_schema(place: Place) -> None:
    reader = place.spark._jsparkSession.readStream().format("kinesis").schema("value STRING")
    place.jvm(reader, place.source(place.stream)).load()


MISTAKES: list[tuple[str, str, Callable[[Place], object], str]] = [
    ("SQL", "a misspelt option", sql("CREATE TABLE x USING kinesis OPTIONS (streamNme 'y')"), "KINESIS_OPTION_UNKNOWN"),
    (
        "SQL",
        "a position that is no time",
        sql("SELECT * FROM {table} WITH ('initialPosition' = 'yesterday')"),
        "KINESIS_OPTION_INVALID",
    ),
    ("SQL", "a row without its data", sql("INSERT INTO {table} VALUES ('k')"), "KINESIS_SINK_COLUMN_MISSING"),
    (
        "SQL",
        "CREATE TABLE AS SELECT",
        sql("CREATE TABLE x USING kinesis AS SELECT 'k' AS partitionKey"),
        "KINESIS_TABLE_CREATED_FROM_QUERY",
    ),
    ("Python", "a stream that does not exist", read_nothing, "KINESIS_STREAM_NOT_FOUND"),
    ("Python", "a query that writes to its own source", write_to_source, "KINESIS_SINK_LOOP"),
    ("Python", "a partition key that is too long", write_long_key, "KINESIS_SINK_ROW_INVALID"),
    ("Scala", "a number as partition key", scala_number_as_key, "KINESIS_SINK_COLUMN_TYPE"),
    ("Scala", "the checkpoint of another stream", scala_other_checkpoint, "KINESIS_CHECKPOINT_OTHER_STREAM"),
    ("Scala", "a schema of the user's own", scala_own_schema, "KINESIS_TABLE_SCHEMA_GIVEN"),
]


@pytest.mark.parametrize(
    ("language", "mistake", "make", "condition"), MISTAKES, ids=[f"{one[0]}: {one[1]}" for one in MISTAKES]
)
def test_the_error_of_a_typical_mistake_has_a_condition_problem_cause_and_fix(
    language: str, mistake: str, make: Callable[[Place], object], condition: str, place: Place
) -> None:
    with pytest.raises(Exception, match=condition) as caught:
        make(place)
    error = caught.value
    kind = error.java_exception.getClass().getName() if isinstance(error, Py4JJavaError) else type(error).__name__
    assert condition_of(error) == condition
    said = re.search(rf"\[{condition}\] .* Cause: .* Fix: .*", str(error))
    assert said is not None, str(error)
    print(f"{language}, {mistake}, {kind}:\n{said.group(0)}")
