"""Test that errors of statements have conditions, in classic sessions; test_connect.py has them with Spark Connect."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from spark_kinesis import KinesisEmulator, KinesisSink


@pytest.fixture
def table(kinesis: KinesisEmulator, new_stream: Callable[..., str], spark: SparkSession) -> Iterator[str]:
    name = new_stream().replace("-", "_")
    stream = name.replace("_", "-")
    spark.sql(f"CREATE TABLE {name} USING kinesis OPTIONS (streamName '{stream}', {_here(kinesis)})")
    yield name
    spark.sql(f"DROP TABLE {name}")


def _here(kinesis: KinesisEmulator) -> str:
    return f"region 'us-east-1', endpoint '{kinesis.endpoint}', awsAccessKey 'a', awsSecretKey 'b'"


@pytest.mark.parametrize(
    ("statement", "condition"),
    [
        ("CREATE TABLE wrong USING kinesis OPTIONS (streamNme 'x')", "KINESIS_OPTION_UNKNOWN"),
        ("SELECT * FROM {table} WITH ('initialPositon' = 'latest')", "KINESIS_OPTION_UNKNOWN"),
        ("SELECT * FROM {table} WITH ('initialPosition' = 'tomorrow')", "KINESIS_OPTION_INVALID"),
        ("SELECT * FROM {table} WITH ('streamARN' = 'x')", "KINESIS_OPTION_INVALID"),
        ("INSERT INTO {table} VALUES ('k')", "KINESIS_SINK_COLUMN_MISSING"),
        ("INSERT INTO {table} VALUES (1, 'x')", "KINESIS_SINK_COLUMN_TYPE"),
        ("CREATE TABLE wrong USING kinesis AS SELECT 'k' AS partitionKey", "KINESIS_TABLE_CREATED_FROM_QUERY"),
    ],
)
def test_an_error_in_a_statement_is_an_analysis_exception_with_its_condition(
    statement: str, condition: str, table: str, spark: SparkSession
) -> None:
    with pytest.raises(AnalysisException) as caught:
        spark.sql(statement.format(table=table)).collect()
    assert caught.value.getCondition() == condition
    assert f"[{condition}]" in str(caught.value)
    assert " Fix: " in str(caught.value)


def test_an_error_of_the_service_has_its_condition(kinesis: KinesisEmulator, spark: SparkSession) -> None:
    options = KinesisSink("nowhere").on_emulator(kinesis).options()
    # A classic session gives errors of an execution as those of the JVM, apart from Spark's own classes.
    with pytest.raises(Py4JJavaError) as caught:
        spark.read.format("kinesis").options(**options).load().collect()
    error = caught.value.java_exception
    assert error.getCondition() == "KINESIS_STREAM_NOT_FOUND"
    assert error.getMessageParameters()["stream"] == "nowhere"
