"""Test that the JVM checks options before a query starts. Spark Connect is in deployment/test_connect.py."""

from __future__ import annotations

import warnings

import pytest
from pyspark.sql import SparkSession

from spark_kinesis import KinesisConnectorError, KinesisSink, KinesisSource, add_kinesis_to

SOURCE = KinesisSource("orders", region="eu-central-1")


@pytest.mark.parametrize(
    ("change", "condition", "says"),
    [
        ({"streamNam": "x"}, "KINESIS_OPTION_UNKNOWN", "Did you mean 'streamName'?"),
        ({"maxRecordsPerFetch": "10001"}, "KINESIS_OPTION_INVALID", "10001 is outside of 1 to 10000."),
        ({"initialPosition": "{"}, "KINESIS_OPTION_INVALID", "It is not JSON"),
        ({"region": "frank\nfurt"}, "KINESIS_OPTION_INVALID", "Fix: Set 'region' to the name of an AWS region"),
        ({"consumerMode": "efo", "registration": "none"}, "KINESIS_OPTION_MISSING", "consumerARN"),
        ({"aggregation": "true"}, "KINESIS_OPTION_WITHOUT_EFFECT", "It is an option of writes, and this is a read."),
        ({"streamPattern": "o.*"}, "KINESIS_OPTION_CONFLICT", "'streamName' and 'streamPattern'"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_reading_with_a_wrong_option_raises_the_whole_message_of_the_jvm(
    change: dict[str, str], condition: str, says: str, spark: SparkSession
) -> None:
    source = SOURCE
    for key, text in change.items():
        source = source.option(key, text)
    for read in (source.read_stream, source.read):
        with pytest.raises(KinesisConnectorError) as caught:
            read(spark)
        assert caught.value.condition == condition
        assert says in str(caught.value)
        assert " Fix: " in str(caught.value)


def test_writing_with_a_wrong_option_raises_before_the_writer_is_made(spark: SparkSession) -> None:
    sink = KinesisSink("orders", region="eu-central-1")
    with pytest.raises(KinesisConnectorError, match="501 is outside of 1 to 500"):
        sink.max_batch_size(501).write(spark.range(1))
    with pytest.raises(KinesisConnectorError, match="a source of credentials"):
        sink.profile("a").credentials_provider("b.C").write_stream(spark.readStream.format("rate").load())


def test_a_sink_needs_no_stream_since_rows_can_name_it(spark: SparkSession) -> None:
    KinesisSink(region="eu-central-1").write(spark.range(1))


def test_secrets_are_not_in_the_message(spark: SparkSession) -> None:
    with pytest.raises(KinesisConnectorError) as caught:
        KinesisSource("orders", aws_access_key="AKIAX", aws_secret_key="s3cret", region="nowhere").read(spark)
    assert not any(secret in str(caught.value) for secret in ("AKIAX", "s3cret"))


def test_the_name_of_another_connector_is_a_warning(spark: SparkSession) -> None:
    with pytest.warns(UserWarning, match=r"'kinesis\.streamName' .* use 'streamName'"):
        KinesisSource(region="eu-central-1").option("kinesis.streamName", "orders").read_stream(spark)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SOURCE.read_stream(spark)


def test_adding_the_jar_twice_is_harmless(spark: SparkSession) -> None:
    assert add_kinesis_to(add_kinesis_to(spark)) is spark
