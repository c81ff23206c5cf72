"""Say whether a deployment fits the service's quotas: ``python -m spark_kinesis.sizing --queries 200 --shards 50``.

Each line is a quota, what the queries use of it, and what to do if it is not enough. The program ends with 1 if a quota
is exceeded. ``sizing`` returns the lines.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from spark_kinesis import _quotas as quotas

Mode = Literal["polling", "efo"]
_KIB = 1024


@dataclass(frozen=True)
class Deployment:
    """Queries that read streams of one account and region.

    Every query reads one stream; the queries are divided equally between ``streams``. ``shards`` is the number of
    shards of each stream, and the rate that of one shard.
    """

    queries: int
    shards: int
    streams: int = 1
    mode: Mode = "polling"
    records_per_second: float = 0
    record_bytes: int = _KIB
    min_fetch_period_ms: int = quotas.MIN_FETCH_PERIOD_MS
    shard_fetch_interval_ms: int = quotas.SHARD_FETCH_INTERVAL_MS

    def __post_init__(self) -> None:
        """Check the numbers."""
        wrong = [name for name in ("queries", "shards", "streams", "record_bytes") if getattr(self, name) < 1]
        wrong += ["records_per_second"] if self.records_per_second < 0 else []
        if wrong:
            raise ValueError(f"{wrong[0]} must be positive, was {getattr(self, wrong[0])}.")

    @property
    def readers(self) -> int:
        """The number of queries that read one stream."""
        return -(-self.queries // self.streams)


@dataclass(frozen=True)
class Line:
    """A quota: what is used of it, and what to do if that is too much. A duration has no limit."""

    name: str
    used: float
    limit: float | None
    unit: str
    advice: str = ""

    @property
    def fits(self) -> bool:
        """Whether the quota is enough."""
        return self.limit is None or self.used <= self.limit

    def __str__(self) -> str:
        """Return the line as the program prints it."""
        if self.limit is None:
            return f"       {self.name}: {_number(self.used)} {self.unit}"
        verdict = "ok    " if self.fits else "EXCEED"
        text = f"{verdict} {self.name}: {_number(self.used)} of {_number(self.limit)} {self.unit}"
        return text if self.fits else f"{text}\n         {self.advice}"


def sizing(of: Deployment) -> list[Line]:
    """Return each quota with its use."""
    writes = of.records_per_second * of.record_bytes
    lines = [
        Line("shards of the account", of.streams * of.shards, quotas.SHARDS_PER_ACCOUNT, "shards", "Ask AWS for more."),
        Line(
            "records written to a shard",
            of.records_per_second,
            quotas.WRITE_RECORDS_PER_SECOND,
            "records/s",
            "Add shards, or set aggregation=true in the sink.",
        ),
        Line("bytes written to a shard", writes, quotas.WRITE_BYTES_PER_SECOND, "bytes/s", "Add shards."),
        *(_polling(of, writes) if of.mode == "polling" else _fan_out(of, writes)),
        Line(
            "ListShards calls for a stream",
            of.readers * -(-of.shards // quotas.LIST_SHARDS_PAGE) * 1000 / of.shard_fetch_interval_ms,
            quotas.LIST_SHARDS_PER_STREAM,
            "calls/s",
            "Increase shardFetchInterval.",
        ),
        Line(
            "start of all queries together, for DescribeStreamSummary",
            of.queries / quotas.DESCRIBE_STREAM_SUMMARY_PER_ACCOUNT,
            None,
            "s at least",
        ),
    ]
    if of.mode == "efo":
        lines.append(
            Line(
                "registration of the consumers of a stream",
                of.readers / quotas.CONSUMER_CHANGES_PER_STREAM,
                None,
                "s at least",
            )
        )
    return lines


def _polling(of: Deployment, rate: float) -> list[Line]:
    shared = of.readers / quotas.GET_RECORDS_PER_SECOND
    fewer = (
        f"They share the quota, and each polls a shard every {_number(shared)} s. At most {_most_polling(of, rate)} "
        "can poll a stream with their full speed. Use consumerMode=efo, or one query for several sinks "
        "(foreachBatch), or a greater minFetchPeriod if records may be late."
    )
    calls = of.readers * _polls_per_second(of)
    return [
        Line("GetRecords calls for a shard", calls, quotas.GET_RECORDS_PER_SECOND, "calls/s", fewer),
        Line("bytes read from a shard", of.readers * rate, quotas.READ_BYTES_PER_SECOND, "bytes/s", fewer),
    ]


def _polls_per_second(of: Deployment) -> float:
    """Return the calls of one query for a shard: a caught-up consumer polls once in ``minFetchPeriod``."""
    period = of.min_fetch_period_ms / 1000
    if period == 0:
        return quotas.GET_RECORDS_PER_SECOND
    return min(quotas.GET_RECORDS_PER_SECOND, 1 / period)


def _most_polling(of: Deployment, rate: float) -> int:
    by_calls = quotas.GET_RECORDS_PER_SECOND / _polls_per_second(of)
    by_bytes = quotas.READ_BYTES_PER_SECOND / rate if rate else by_calls
    return int(min(by_calls, by_bytes))


def _fan_out(of: Deployment, rate: float) -> list[Line]:
    advantage = quotas.CONSUMERS_PER_STREAM_ADVANTAGE
    return [
        Line(
            "fan-out consumers of a stream",
            of.readers,
            quotas.CONSUMERS_PER_STREAM,
            "consumers",
            f"On-demand Advantage allows {advantage}. Otherwise, use one query for several sinks (foreachBatch), "
            "or copy the stream.",
        ),
        Line("bytes pushed from a shard", rate, quotas.FAN_OUT_BYTES_PER_SECOND, "bytes/s", "Add shards."),
        Line(
            "SubscribeToShard calls of a query",
            of.shards / quotas.SUBSCRIPTION_SECONDS,
            None,
            "calls/s, one for each shard in five minutes",
        ),
    ]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) or value >= 100 else f"{value:,.2f}"


def _arguments(argv: Sequence[str] | None) -> Deployment:
    parser = argparse.ArgumentParser(prog="python -m spark_kinesis.sizing", description=__doc__)
    parser.add_argument("--queries", type=int, required=True, help="queries that run at the same time")
    parser.add_argument("--shards", type=int, required=True, help="open shards of each stream")
    parser.add_argument("--streams", type=int, default=1, help="streams; each query reads one (1)")
    parser.add_argument("--mode", choices=["polling", "efo"], default="polling", help="consumerMode (polling)")
    parser.add_argument("--records-per-second", type=float, default=0, help="records that a shard receives (0)")
    parser.add_argument("--record-bytes", type=int, default=_KIB, help="mean size of a record and its key (1024)")
    parser.add_argument("--min-fetch-period-ms", type=int, default=quotas.MIN_FETCH_PERIOD_MS, help="minFetchPeriod")
    parser.add_argument(
        "--shard-fetch-interval-ms", type=int, default=quotas.SHARD_FETCH_INTERVAL_MS, help="shardFetchInterval"
    )
    try:
        return Deployment(**vars(parser.parse_args(argv)))
    except ValueError as wrong:
        parser.error(str(wrong))


def main(argv: Sequence[str] | None = None) -> int:
    """Print the lines. Return 1 if a quota is exceeded."""
    deployment = _arguments(argv)
    lines = sizing(deployment)
    per = "query" if deployment.queries == 1 else "queries"
    print(
        f"{deployment.queries:,} {per}, {deployment.streams:,} x {deployment.shards:,} shards, "
        f"consumerMode={deployment.mode}\n"
    )
    print(*lines, sep="\n")
    return 0 if all(line.fits for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
