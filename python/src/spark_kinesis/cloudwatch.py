"""Publish the figures of queries to CloudWatch: ``spark.streams.addListener(CloudWatchListener(client))``.

``client`` is ``boto3.client("cloudwatch")``. The package does not need boto3 otherwise.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Protocol

from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

_LOG = logging.getLogger(__name__)

# The name in CloudWatch, its unit, and the metric of the source or the sink.
_OF_SOURCE = [
    ("MillisBehindLatest", "Milliseconds", "maxMsBehindLatest"),
    ("FetchedMillisBehindLatest", "Milliseconds", "maxFetchedMsBehindLatest"),
    ("MillisUntilExpiry", "Milliseconds", "expiresInMs"),
    ("OpenShards", "Count", "numOpenShards"),
    ("BufferedBytes", "Bytes", "bufferedBytes"),
    ("PollingSlowdown", "None", "pollingSlowdown"),
]
_OF_SINK = [
    ("RecordsOut", "Count", "recordsOut"),
    ("RecordsThrottled", "Count", "recordsThrottled"),
    ("PossibleDuplicates", "Count", "possibleDuplicates"),
    ("PutPayloadUnits", "Count", "putPayloadUnits"),
]


class CloudWatch(Protocol):
    """The part of boto3's client that is used."""

    def put_metric_data(self, *, Namespace: str, MetricData: list[dict[str, Any]]) -> Any:
        """Store the values."""


class CloudWatchListener(StreamingQueryListener):
    """Publishes the figures of each micro-batch that reads or writes Kinesis, with the query as a dimension.

    A failure of CloudWatch is logged, and does not affect the query.
    """

    def __init__(self, client: CloudWatch, namespace: str = "SparkKinesis") -> None:
        """``namespace`` is that of the metrics in CloudWatch."""
        self._client = client
        self._namespace = namespace

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        """Do nothing."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        """Publish the figures of a batch."""
        data = list(metric_data(event.progress))
        if data:
            try:
                self._client.put_metric_data(Namespace=self._namespace, MetricData=data)
            except Exception:  # Any class of boto3, which this package does not import.
                _LOG.warning("The figures of a batch could not be published to CloudWatch", exc_info=True)

    def onQueryIdle(self, event: QueryIdleEvent) -> None:
        """Do nothing: an idle query has a progress from time to time."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        """Do nothing."""


def metric_data(progress: Any) -> Iterator[dict[str, Any]]:
    """Return the values of a progress as ``put_metric_data`` takes them; none without a source or sink of Kinesis."""
    dimensions = [{"Name": "Query", "Value": progress.name or str(progress.id)}]
    time = datetime.fromisoformat(progress.timestamp.replace("Z", "+00:00"))
    for figures, metrics in (
        *((_OF_SOURCE, source.metrics or {}) for source in progress.sources),
        (_OF_SINK, progress.sink.metrics or {}),
    ):
        for name, unit, key in figures:
            value = _number(metrics, key)
            if value is not None:
                yield {"MetricName": name, "Dimensions": dimensions, "Timestamp": time, "Value": value, "Unit": unit}


def _number(metrics: Mapping[str, str], key: str) -> float | None:
    """Return a metric of the connector. Other sources and sinks have none of these names."""
    return float(metrics[key]) if key in metrics else None
