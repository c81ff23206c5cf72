"""The check by the generated declarations, used under Spark Connect, against the JVM's own."""

from __future__ import annotations

import warnings

import pytest
from pyspark.sql import SparkSession

from spark_kinesis import KinesisConnectorError, KinesisSink, KinesisSource, add_kinesis_to
from spark_kinesis._check import check
from spark_kinesis._declaration import Declaration
from spark_kinesis._generated import DECLARATIONS

# What the two could read differently: white space, signs, units, bounds, overflow, other alphabets, nothing.
# fmt: off
TEXTS = [
    "", " ", "x", "true", " TRUE ", "yes", "0", "1", "-1", "+5", " 7 ", "500", "501", "1_000", "\u0661", "1.5", "1e1",
    "NaN", "-Infinity", "99999999999999999999", "9223372036854775808", "1k", "2 KiB", "3mb", "1025g", "99999999999999g",
    "10x", "250ms", "1 S", "15min", "1h", "2d", "366d", "999999999999999d", "1.5s", "efo", "LAZY", "deadletter", "a b",
    "a\n", "\u00e9", "eu-central-1", "http://127.0.0.1:1", "https://a/b", "https://user:pw@a",
    "arn:aws:iam::123456789012:role/r",
]
# fmt: on


def _verdict(options: dict[str, str], spark: SparkSession | None) -> str | None:
    try:
        check(options, spark)
    except KinesisConnectorError as error:
        return str(error)
    return None


@pytest.mark.parametrize("declaration", [d for d in DECLARATIONS if d.kind != "parsed"], ids=lambda d: d.key)
def test_python_and_the_jvm_say_the_same_of_every_text(declaration: Declaration, spark: SparkSession) -> None:
    key = declaration.key.replace("*", "orders")
    for text in TEXTS:
        assert _verdict({key: text}, None) == _verdict({key: text}, spark), f"{key}={text!r}"


@pytest.mark.parametrize("key", ["streamNam", "STREAMARN2", "qq", "consumerARN.", "retry.getRecord.maxRetries"])
def test_python_and_the_jvm_suggest_the_same_name(key: str, spark: SparkSession) -> None:
    said = _verdict({key: "x"}, None)
    assert said is not None
    assert said == _verdict({key: "x"}, spark)


def test_python_and_the_jvm_warn_alike(spark: SparkSession) -> None:
    said = []
    for session in (None, spark):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            check({"kinesis.region": "eu-central-1"}, session)
        said.append([str(warning.message) for warning in caught])
    assert said[0] == said[1]
    assert said[0] != []


def test_a_builder_raises_the_jvms_message_before_anything_is_asked_of_the_service(spark: SparkSession) -> None:
    with pytest.raises(KinesisConnectorError, match="It is not JSON") as caught:
        KinesisSource("orders").initial_position("{").read_stream(spark)
    assert caught.value.condition == "KINESIS_OPTION_INVALID"
    with pytest.raises(KinesisConnectorError, match="501 is outside of 1 to 500"):
        KinesisSink("orders").max_batch_size(501).write(spark.range(1))


def test_adding_the_jar_twice_is_harmless(spark: SparkSession) -> None:
    assert add_kinesis_to(add_kinesis_to(spark)) is spark
