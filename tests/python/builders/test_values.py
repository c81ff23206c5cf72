"""Test what the builders make of Python values: every option with None, wrong types and empty values."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy
import pytest
from pyspark.sql import SparkSession

from spark_kinesis import FirehoseSink, KinesisConnectorError, KinesisSink, KinesisSource
from spark_kinesis._generated import (
    FirehoseKeywords,
    RetriedByFirehose,
    RetriedBySink,
    RetriedBySource,
    SinkKeywords,
    SourceKeywords,
)

ARN = "arn:aws:kinesis:eu-central-1:123456789012:stream/orders"
NOON = datetime(2026, 11, 20, 12, tzinfo=timezone.utc)

Builders = KinesisSource | KinesisSink | FirehoseSink
KEYWORDS: dict[type[Builders], Any] = {
    KinesisSource: SourceKeywords,
    KinesisSink: SinkKeywords,
    FirehoseSink: FirehoseKeywords,
}


def _classes(annotation: Any) -> set[Any]:
    """Return the classes of the values that an annotation accepts."""
    if get_origin(annotation) is Literal:
        return {str}
    members = get_args(annotation) if type(None) in get_args(annotation) else (annotation,)
    return {str if get_origin(one) is Literal else get_origin(one) or one for one in members} - {type(None)}


OPTIONS = [
    pytest.param(kind, name, _classes(annotation), id=f"{kind.__name__}.{name}")
    for kind, keywords in KEYWORDS.items()
    for name, annotation in get_type_hints(keywords).items()
]


def _names(kind: type[Builders]) -> list[str]:
    return list(get_type_hints(KEYWORDS[kind]))


METHODS_OF = [
    pytest.param(kind, name, id=f"{kind.__name__}.{name}")
    for kind in KEYWORDS
    for name, _ in inspect.getmembers(kind, inspect.isfunction)
    if name.endswith("_of") and not name.startswith("_")
]

# A sink takes a list of one of these, as a source takes a list of several.
NAMING = ("stream_name", "stream_arn", "stream_id")

# A value of each class that options have, and values that no option takes.
OF_CLASS: Mapping[Any, Any] = {
    bool: True,
    int: 7,
    float: 0.5,
    timedelta: timedelta(seconds=1),
    datetime: NOON,
    Mapping: {"*": "latest"},
    Sequence: ["text"],
}
OF_NO_CLASS = [b"bytes", object(), {1, 2}, print, Path("/x"), Decimal(1), date(2026, 1, 1), 1 + 2j]


def _set(kind: type[Builders], name: str, value: object) -> dict[str, str]:
    by_method: Builders = getattr(kind(), name)(value)
    arguments: dict[str, Any] = {name: value}
    assert kind(**arguments) == by_method
    assert kind().update(**arguments) == by_method
    return by_method.options()


def _accepts(classes: set[Any], of: Any) -> bool:
    # A whole number is a number, and a time may be a number of milliseconds.
    return of in classes or (of is int and bool(classes & {float, datetime}))


@pytest.mark.parametrize(("kind", "name", "classes"), OPTIONS)
def test_none_leaves_every_option_unset(kind: type[Builders], name: str, classes: set[Any]) -> None:
    assert _set(kind, name, None) == {}
    once = getattr(kind(), name)("text")
    assert list(once.options().values()) == ["text"]
    assert getattr(once, name)(None).options() == {}
    assert once.update(**{name: None}).options() == {}
    key = next(iter(once.options()))
    assert once.option(key, None).options() == once.option(key.upper(), None).options() == {}
    assert once.update({key: None}).options() == {}


@pytest.mark.parametrize(("kind", "name", "classes"), OPTIONS)
def test_every_option_takes_its_classes_and_refuses_all_others(
    kind: type[Builders], name: str, classes: set[Any]
) -> None:
    assert classes <= {str, *OF_CLASS}
    assert list(_set(kind, name, "text").values()) == ["text"]
    for of, value in OF_CLASS.items():
        if of is Sequence and name in NAMING:
            continue
        if _accepts(classes, of):
            assert len(_set(kind, name, value)) == 1
        else:
            with pytest.raises((TypeError, ValueError), match=rf"^{kind.__name__}\.{name} takes "):
                getattr(kind(), name)(value)
    for value in OF_NO_CLASS:
        with pytest.raises(TypeError, match=rf"^{kind.__name__}\.{name} takes .*, not a value of type "):
            getattr(kind(), name)(value)
    for number in (float("nan"), float("inf")):
        with pytest.raises((TypeError, ValueError)):
            getattr(kind(), name)(number)


@pytest.mark.parametrize(("kind", "name", "classes"), OPTIONS)
def test_empty_collections_are_errors(kind: type[Builders], name: str, classes: set[Any]) -> None:
    empty: Any
    for empty in ([], (), {}, ["a", None], ["a,b"], *([] if name in NAMING else ([""], [" "]))):
        with pytest.raises((TypeError, ValueError)):
            getattr(kind(), name)(empty)
    if Sequence in classes:
        with pytest.raises(ValueError, match="takes a list with items; None leaves the option unset"):
            getattr(kind(), name)([])


@pytest.mark.parametrize(("kind", "name", "classes"), OPTIONS)
def test_an_empty_text_is_an_error_of_the_jvm(
    kind: type[Builders], name: str, classes: set[Any], spark: SparkSession
) -> None:
    builder = getattr(kind(), name)("")
    with pytest.raises(KinesisConnectorError) as caught:
        builder.read_stream(spark) if isinstance(builder, KinesisSource) else builder.write(spark.range(1))
    assert caught.value.condition == "KINESIS_OPTION_INVALID"


@pytest.mark.parametrize(("kind", "name"), METHODS_OF)
def test_options_of_one_stream_take_a_name_and_a_value(kind: type[Builders], name: str) -> None:
    builder = getattr(kind(), name)("orders", "text")
    assert list(builder.options().values()) == ["text"]
    assert getattr(builder, name)("orders", None).options() == {}
    for value in (5, True, [], {}, *OF_NO_CLASS):
        with pytest.raises((TypeError, ValueError), match=rf"^{kind.__name__}\.{name} takes "):
            getattr(kind(), name)("orders", value)
    for stream in ("", " ", None, 5):
        with pytest.raises(TypeError, match=f"{name} takes a name"):
            getattr(kind(), name)(stream, "text")


def test_a_sink_has_the_options_of_one_of_several_streams(spark: SparkSession) -> None:
    sink = (
        KinesisSink(region="eu-central-1")
        .region_of("clicks", "us-east-1")
        .endpoint_of("clicks", "https://kinesis.example.com")
        .role_arn_of("clicks", "arn:aws:iam::123456789012:role/writer")
        .role_external_id_of("clicks", "s3cret")
    )
    assert sink.options()["roleExternalId.clicks"] == "s3cret"
    assert "s3cret" not in repr(sink)
    sink.write(spark.range(1))


def test_the_name_of_a_stream_in_an_option_is_case_sensitive() -> None:
    source = KinesisSource(["orders", "Orders"]).region_of("orders", "us-east-1").region_of("Orders", "us-east-2")
    assert source.option("REGION.orders", "us-west-1").options() == {
        "streamName": "orders,Orders",
        "region.Orders": "us-east-2",
        "REGION.orders": "us-west-1",
    }


def test_values_that_do_not_fit_do_not_appear_in_errors() -> None:
    for value in (b"s3cret", ["s3cret"], {"s3cret": 1}):
        with pytest.raises(TypeError) as caught:
            KinesisSource("orders").aws_secret_key(value)  # type: ignore[arg-type]
        assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e6, "1000000"),
        (1_000_000, "1000000"),
        (numpy.int64(2**30), "1073741824"),
        (numpy.float64(2**30), "1073741824"),
        (10**15, "1000000000000000"),
    ],
)
def test_a_whole_number_may_be_of_any_type(value: Any, text: str) -> None:
    assert KinesisSource().max_records_per_trigger(value).options() == {"maxRecordsPerTrigger": text}
    assert KinesisSource().fetch_buffer_size(value).options() == {"fetchBufferSize": text}
    assert KinesisSource().option("maxRecordsPerTrigger", value).options() == {"maxRecordsPerTrigger": text}


def test_a_number_with_a_fraction_is_an_error_where_a_whole_one_is_needed() -> None:
    with pytest.raises(ValueError, match=r"KinesisSource\.max_records_per_trigger takes a whole number"):
        KinesisSource().max_records_per_trigger(1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a whole number of milliseconds, a timedelta, or a text such as '1500ms'"):
        KinesisSource().min_fetch_period(1.5)  # type: ignore[arg-type]
    assert KinesisSource().max_fetches_per_second(0.5).options() == {"maxFetchesPerSecond": "0.5"}
    numpy_true: Any = numpy.bool_(True)
    assert KinesisSource().deaggregation(numpy_true).options() == {"deaggregation": "true"}


def test_a_duration_has_milliseconds() -> None:
    assert KinesisSource().min_fetch_period(timedelta(seconds=1) / 3).options() == {"minFetchPeriod": "333ms"}
    assert KinesisSource().min_fetch_period(timedelta(0)).options() == {"minFetchPeriod": "0ms"}
    with pytest.raises(ValueError, match="at least one millisecond"):
        KinesisSource().min_fetch_period(timedelta(microseconds=5))


def test_positions_leave_out_none_and_refuse_what_is_no_position() -> None:
    source = KinesisSource().initial_position({"a": None, "*": {"at_timestamp": 1.7e12, "x": None}})
    assert source.options() == {"initialPosition": '{"*": {"at_timestamp": 1700000000000}}'}
    wrong: dict[str, Any]
    for wrong in ({}, {"*": None}, {"*": {}}, {"*": True}, {"*": [1]}, {"*": b"x"}):
        with pytest.raises((TypeError, ValueError), match=r"^KinesisSource\.initial_position "):
            KinesisSource().initial_position(wrong)
    with pytest.raises(TypeError, match=r"not a value of type date; write datetime\("):
        KinesisSource().initial_position(date(2026, 1, 1))  # type: ignore[arg-type]


def test_a_list_of_names_and_arns_is_an_error_that_says_so() -> None:
    with pytest.raises(ValueError, match="a list of names or a list of ARNs, not both: 'clicks' is a name, and 'arn:"):
        KinesisSource([ARN, "clicks"])
    with pytest.raises(TypeError, match="gets the stream twice: as its first argument and as stream_name"):
        KinesisSource("orders", stream_name="clicks")
    assert KinesisSource("orders", stream_name=None).options() == {"streamName": "orders"}


@pytest.mark.parametrize("name", ["stream_name", "stream_arn"])
def test_a_sink_refuses_two_streams_when_it_is_built(name: str) -> None:
    for two in (["a", "b"], "a,b", ("a", "b")):
        with pytest.raises(ValueError, match=rf"KinesisSink\.{name} takes one stream, not 2.*column 'stream'"):
            getattr(KinesisSink(), name)(two)
    assert getattr(KinesisSink(), name)(["a"]) == getattr(KinesisSink(), name)("a")
    with pytest.raises(ValueError, match="takes one stream, not 2"):
        KinesisSink(["a", "b"])  # type: ignore[arg-type]


def test_a_sink_takes_the_ids_of_several_logical_streams() -> None:
    for two in (["a", "b"], "a,b", ("a", "b")):
        assert KinesisSink(stream_id=two).options() == {"streamId": "a,b"}


def test_a_sink_has_no_patterns_because_it_writes_to_streams_with_a_name() -> None:
    with pytest.raises(TypeError, match="KinesisSink has no option 'stream_pattern'"):
        KinesisSink(stream_pattern="o.*")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("kind", "operations"),
    [(KinesisSource, RetriedBySource), (KinesisSink, RetriedBySink), (FirehoseSink, RetriedByFirehose)],
)
def test_retry_sets_the_options_of_every_operation(kind: type[Builders], operations: Any, spark: SparkSession) -> None:
    builder: Any = kind("orders")
    for operation in get_args(operations):
        builder = builder.retry(
            operation, max_retries=3, backoff_base=100, backoff_max=timedelta(seconds=2), backoff_exponent=2
        )
        assert f"``{operation}``" in (kind.retry.__doc__ or "")
    builder = builder.region("eu-central-1")
    assert len(builder.options()) == 2 + 4 * len(get_args(operations))
    # The JVM knows all of them.
    builder.read(spark) if isinstance(builder, KinesisSource) else builder.write(spark.range(1))


def test_retry_leaves_what_is_none_and_refuses_other_operations_and_values() -> None:
    source = KinesisSource("orders").retry("GetRecords", max_retries=3, backoff_base="1s")
    assert source.retry("GetRecords", max_retries=5).options() == {
        "streamName": "orders",
        "retry.getRecords.maxRetries": "5",
        "retry.getRecords.backoff.base": "1s",
    }
    with pytest.raises(ValueError, match="does not call the operation 'getRecord'; did you mean 'GetRecords'"):
        source.retry("getRecord", max_retries=5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="KinesisSink does not call the operation 'GetRecords'"):
        KinesisSink("counts").retry("GetRecords", max_retries=5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"KinesisSource\.retry: backoff_max takes .* not a value of type list"):
        source.retry("GetRecords", backoff_max=[])  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KEYWORDS)
def test_the_signature_shows_every_option(kind: type[Builders]) -> None:
    parameters = inspect.signature(kind).parameters
    first, *options = parameters.values()
    assert first.kind is inspect.Parameter.POSITIONAL_ONLY
    assert [option.name for option in options] == _names(kind)
    assert all(option.default is None and option.kind is inspect.Parameter.KEYWORD_ONLY for option in options)
    shown = str(inspect.signature(kind))
    assert "max_time_in_buffer: str | int | datetime.timedelta | None = None" in shown or kind is KinesisSource
    assert "region: str | None = None" in shown


@pytest.mark.parametrize("kind", KEYWORDS)
def test_docstrings_name_the_options_as_python_does(kind: type[Builders]) -> None:
    keys = {next(iter(getattr(of(), name)("text").options())) for of in KEYWORDS for name in _names(of)}
    in_spark_only = {key for key in keys if re.search(r"[A-Z.]", key)}
    assert {"maxRecordsPerTrigger", "maxBatchSize", "streamARN"} <= in_spark_only
    for name, method in inspect.getmembers(kind, inspect.isfunction):
        text = re.sub(r"``.*?``", "", re.sub(r"\s+", " ", method.__doc__ or ""))
        words = {word.partition("=")[0] for word in re.findall(r"`([^`]+)`", text)}
        assert words & in_spark_only == set(), name
