"""What the listener publishes to CloudWatch, from progresses as data."""

from __future__ import annotations

from datetime import datetime, timezone
from types import SimpleNamespace
from typing import Any

import pytest

from spark_kinesis.cloudwatch import CloudWatchListener, metric_data


class _Client:
    def __init__(self, *, fails: bool = False) -> None:
        self.calls: list[dict[str, Any]] = []
        self._fails = fails

    def put_metric_data(self, *, Namespace: str, MetricData: list[dict[str, Any]]) -> None:
        if self._fails:
            raise ConnectionError("no answer")
        self.calls.append({"namespace": Namespace, "data": MetricData})


def _progress(source: dict[str, str] | None, sink: dict[str, str] | None, name: str | None = "etl") -> Any:
    return SimpleNamespace(
        name=name,
        id="3f2c",
        timestamp="2026-11-20T12:00:00.500Z",
        sources=[SimpleNamespace(metrics=None), SimpleNamespace(metrics=source)],
        sink=SimpleNamespace(metrics=sink),
    )


def test_the_figures_of_source_and_sink_have_names_units_and_the_query() -> None:
    source = {"maxMsBehindLatest": "2500", "expiresInMs": "86397500", "pollingSlowdown": "1.50", "consumerMode": "efo"}
    found = list(metric_data(_progress(source, {"recordsOut": "7", "meanBatchSize": "3.5"})))
    assert [(one["MetricName"], one["Value"], one["Unit"]) for one in found] == [
        ("MillisBehindLatest", 2500.0, "Milliseconds"),
        ("MillisUntilExpiry", 86397500.0, "Milliseconds"),
        ("PollingSlowdown", 1.5, "None"),
        ("RecordsOut", 7.0, "Count"),
    ]
    assert {one["Dimensions"][0]["Value"] for one in found} == {"etl"}
    assert found[0]["Timestamp"] == datetime(2026, 11, 20, 12, 0, 0, 500000, tzinfo=timezone.utc)


def test_a_query_without_a_name_has_its_id() -> None:
    found = list(metric_data(_progress({"numOpenShards": "2"}, None, name=None)))
    assert found[0]["Dimensions"] == [{"Name": "Query", "Value": "3f2c"}]


def test_nothing_is_published_for_a_query_of_other_sources_and_sinks() -> None:
    client = _Client()
    event: Any = SimpleNamespace(progress=_progress({"other": "1"}, None))
    CloudWatchListener(client).onQueryProgress(event)
    assert client.calls == []


def test_a_batch_is_published_in_one_call_and_a_failure_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    event: Any = SimpleNamespace(progress=_progress({"maxMsBehindLatest": "0"}, {"recordsOut": "1"}))
    client = _Client()
    CloudWatchListener(client, "Mine").onQueryProgress(event)
    assert [(call["namespace"], len(call["data"])) for call in client.calls] == [("Mine", 2)]
    CloudWatchListener(_Client(fails=True)).onQueryProgress(event)
    assert "could not be published" in caplog.text
