from __future__ import annotations

import pickle
from datetime import datetime, timedelta, timezone

import pytest

from spark_kinesis import FirehoseSink, KinesisConnectorError, KinesisSink, KinesisSource, condition_of
from spark_kinesis._builder import Builder
from spark_kinesis._generated import SinkKeywords, SourceKeywords
from spark_kinesis._redaction import HIDDEN, SENSITIVE, SENSITIVE_PREFIXES

ARN = "arn:aws:kinesis:eu-central-1:123456789012:stream/orders"


def test_a_stream_is_given_by_name_by_arn_or_as_several() -> None:
    assert KinesisSource("orders").options() == {"streamName": "orders"}
    assert KinesisSource(ARN).options() == {"streamARN": ARN}
    assert KinesisSource(["orders", "events"]).options() == {"streamName": "orders,events"}
    assert KinesisSource([ARN]).options() == {"streamARN": ARN}
    assert KinesisSource(stream_pattern="orders-.*").options() == {"streamPattern": "orders-.*"}


def test_keywords_and_methods_give_the_same_options() -> None:
    by_keywords = KinesisSource("orders", region="eu-central-1", max_trigger_delay="1h")
    assert by_keywords == KinesisSource("orders").region("eu-central-1").max_trigger_delay("1h")
    assert by_keywords.options() == {"streamName": "orders", "region": "eu-central-1", "maxTriggerDelay": "1h"}


def test_python_values_become_the_texts_that_spark_takes() -> None:
    noon = datetime(2026, 11, 20, 13, tzinfo=timezone(timedelta(hours=1)))
    source = (
        KinesisSource("orders")
        .fail_on_data_loss(False)
        .max_records_per_trigger(1000)
        .min_fetch_period(timedelta(seconds=1.5))
        .initial_position(noon)
        .ending_position({"shardId-000000000000": {"at_timestamp": noon}, "*": "latest"})
    )
    assert source.options() == {
        "streamName": "orders",
        "failOnDataLoss": "false",
        "maxRecordsPerTrigger": "1000",
        "minFetchPeriod": "1500ms",
        "initialPosition": "2026-11-20T12:00:00.000Z",
        "endingPosition": '{"shardId-000000000000": {"at_timestamp": "2026-11-20T12:00:00.000Z"}, "*": "latest"}',
    }


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(TypeError, match="has no time zone"):
        KinesisSource("orders").initial_position(datetime(2026, 11, 20))


def test_enhanced_fan_out_takes_a_name_or_an_arn() -> None:
    consumer = f"{ARN}/consumer/etl:1790000000"
    assert KinesisSource("orders").efo(consumer_name="etl").options() == {
        "streamName": "orders",
        "consumerMode": "efo",
        "consumerName": "etl",
    }
    assert KinesisSource("orders").efo(consumer_arn=consumer).options() == {
        "streamName": "orders",
        "consumerMode": "efo",
        "consumerARN": consumer,
        "registration": "none",
    }
    assert KinesisSource("orders").efo().options() == {"streamName": "orders", "consumerMode": "efo"}
    with pytest.raises(TypeError, match="either consumer_name or consumer_arn"):
        KinesisSource("orders").efo(consumer_name="etl", consumer_arn=consumer)
    several = KinesisSource(["orders", "events"]).consumer_arn_of("orders", consumer)
    assert several.options()["consumerARN.orders"] == consumer


def test_each_of_several_streams_can_have_its_own_options() -> None:
    role = "arn:aws:iam::123456789012:role/reader"
    source = (
        KinesisSource(["orders", "clicks"], region="eu-central-1")
        .region_of("clicks", "us-east-1")
        .endpoint_of("clicks", "http://127.0.0.1:4567")
        .role_arn_of("clicks", role)
        .role_external_id_of("clicks", "x")
        .retry_recoverable_errors(["KMSDisabledException", "java.net.ConnectException"])
    )
    assert source.options() == {
        "streamName": "orders,clicks",
        "region": "eu-central-1",
        "region.clicks": "us-east-1",
        "endpoint.clicks": "http://127.0.0.1:4567",
        "roleArn.clicks": role,
        "roleExternalId.clicks": "x",
        "retry.recoverableErrors": "KMSDisabledException,java.net.ConnectException",
    }


def test_a_sink_has_the_retry_options_of_its_calls() -> None:
    sink = (
        KinesisSink("counts", delivery_timeout="infinite")
        .retry("PutRecords", backoff_max=timedelta(seconds=2))
        .retry("DescribeStreamSummary", max_retries=3)
        .retry("ListShards", backoff_base="1s", backoff_exponent=2)
        .retry_recoverable_errors(["KMSDisabledException"])
    )
    assert sink.options() == {
        "streamName": "counts",
        "deliveryTimeout": "infinite",
        "retry.putRecords.backoff.max": "2000ms",
        "retry.describeStreamSummary.maxRetries": "3",
        "retry.listShards.backoff.base": "1s",
        "retry.listShards.backoff.exponent": "2",
        "retry.recoverableErrors": "KMSDisabledException",
    }


def test_a_sink_has_the_parameters_of_rate_limiting() -> None:
    sink = KinesisSink("counts", rate_limiting="com.example.Limits", rate_limiting_aimd_decrease=0.8)
    sink = sink.rate_limiting_batch_and_delay_max_delay("5s").rate_limiting_param_of("step", "7")
    assert sink.options() == {
        "streamName": "counts",
        "rateLimiting": "com.example.Limits",
        "rateLimiting.aimd.decrease": "0.8",
        "rateLimiting.batchAndDelay.maxDelay": "5s",
        "rateLimiting.param.step": "7",
    }


def test_a_sink_takes_the_order_of_its_rows() -> None:
    sink = KinesisSink("counts", ordering="key", order_by=["eventTime", "id desc"]).distribute_by_key(False)
    assert sink.options() == {
        "streamName": "counts",
        "ordering": "key",
        "orderBy": "eventTime,id desc",
        "distributeByKey": "false",
    }


def test_a_builder_never_changes() -> None:
    base = KinesisSink("counts")
    keyed = base.ordering("key")
    assert base.options() == {"streamName": "counts"}
    assert keyed.ordering("none") != keyed
    with pytest.raises(AttributeError):
        base._texts = {}
    base.options()["streamName"] = "other"
    assert base.options() == {"streamName": "counts"}


def test_the_last_value_of_an_option_counts_with_any_case_of_its_name() -> None:
    assert KinesisSource("orders").option("REGION", "eu-west-1").region("eu-west-2").options() == {
        "streamName": "orders",
        "region": "eu-west-2",
    }


def test_equal_builders_are_equal_hash_alike_and_survive_pickling() -> None:
    sink = KinesisSink("counts").max_batch_size(100)
    assert sink == KinesisSink("counts", max_batch_size=100)
    assert hash(sink) == hash(KinesisSink("counts", max_batch_size=100))
    assert sink != KinesisSource("counts")
    assert pickle.loads(pickle.dumps(sink)) == sink


def test_repr_redacts_secrets() -> None:
    source = KinesisSource("orders", aws_access_key="AKIAX", aws_secret_key="s3cret", region="eu-central-1")
    shown = repr(source.option("KINESIS.AWSSECRETKEY", "0ther"))
    assert "region='eu-central-1'" in shown
    assert not any(secret in shown for secret in ("AKIAX", "s3cret", "0ther"))


SENSITIVE_NAMES = sorted(SENSITIVE) + [f"{prefix}Orders" for prefix in SENSITIVE_PREFIXES]


@pytest.mark.parametrize(
    "builder", [KinesisSource("s"), KinesisSink("s"), FirehoseSink("d")], ids=lambda b: type(b).__name__
)
@pytest.mark.parametrize("name", SENSITIVE_NAMES)
def test_repr_hides_every_sensitive_option_and_shows_references(name: str, builder: Builder) -> None:
    for key in (name, name.upper(), name.title()):
        for secret in ("planted", "env", "env:", "env:A B", "x env:NAME", "env:NAME\n", "file: x", "conf:other.key"):
            shown = repr(builder.option(key, secret))
            assert shown.endswith(f"{key}={HIDDEN!r})"), shown
        for reference in (
            "env:AWS_SECRET",
            "file:/run/secrets/key",
            "conf:spark.etl.secret",
            "class:com.example.Key$1",
        ):
            assert f"{key}={reference!r}" in repr(builder.option(key, reference))


def test_repr_hides_secrets_in_the_addresses_of_a_metadata_service() -> None:
    for address, shown in [
        ("https://meta.example/s?t=planted&n=1", f"https://meta.example/s?{HIDDEN}"),
        ("https://user:planted@meta.example/s", f"https://{HIDDEN}@meta.example/s"),
        ("file:s3a://bucket/streams.json", "file:s3a://bucket/streams.json"),
    ]:
        assert f"metadataService={shown!r}" in repr(KinesisSource(stream_id="o", metadata_service=address))


def test_a_keyword_that_is_no_option_of_the_builder_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="KinesisSink has no option 'consumer_mode'"):
        KinesisSink("counts", consumer_mode="efo")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="KinesisSource has no option 'options'"):
        KinesisSource("orders", options="x")  # type: ignore[call-arg]


def test_a_sink_of_a_logical_stream_names_its_metadata_service_and_its_router() -> None:
    sink = KinesisSink(stream_id="orders", router="hash").metadata("file:/etc/streams.json", refresh="30s")
    assert sink.metadata_cache("s3a://bucket/cache").options() == {
        "streamId": "orders",
        "router": "hash",
        "metadataService": "file:/etc/streams.json",
        "metadataRefreshInterval": "30s",
        "metadataCache": "s3a://bucket/cache",
    }


def test_a_misspelt_keyword_is_a_type_error_with_the_nearest_name() -> None:
    with pytest.raises(TypeError, match="no option 'max_batchsize'; did you mean 'max_batch_size'"):
        KinesisSink("counts", max_batchsize=5)  # type: ignore[call-arg]


def test_a_misspelt_method_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="initial_positon"):
        KinesisSource("orders").initial_positon("latest")  # type: ignore[attr-defined]


@pytest.mark.parametrize(("kind", "keywords"), [(KinesisSource, SourceKeywords), (KinesisSink, SinkKeywords)])
def test_every_keyword_is_a_documented_method(kind: type, keywords: type) -> None:
    for name in keywords.__annotations__:
        assert "Takes " in (getattr(kind, name).__doc__ or ""), name


def test_the_condition_is_found_in_an_error_of_spark() -> None:
    assert condition_of(RuntimeError("[STREAM_FAILED] Query: [KINESIS_DATA_LOSS] Records of …")) == "KINESIS_DATA_LOSS"
    assert condition_of(RuntimeError("something else")) is None
    error = KinesisConnectorError.of("KINESIS_JAR_MISSING", where="here", reason="It is not there.", fix="Build it.")
    assert str(error).endswith("Cause: It is not there. Fix: Build it.")
    assert condition_of(error) == "KINESIS_JAR_MISSING"
    assert pickle.loads(pickle.dumps(error)).condition == "KINESIS_JAR_MISSING"
