"""Sizing from the quotas, as a table: what is used of each quota, and whether it is enough."""

from __future__ import annotations

import pytest

from spark_kinesis.sizing import Deployment, main, sizing

CALLS = "GetRecords calls for a shard"
READ = "bytes read from a shard"
CONSUMERS = "fan-out consumers of a stream"
LISTINGS = "ListShards calls for a stream"
WRITTEN = "bytes written to a shard"


@pytest.mark.parametrize(
    ("deployment", "name", "used", "fits"),
    [
        (Deployment(1, 50), CALLS, 4, True),
        (Deployment(2, 50), CALLS, 8, False),
        (Deployment(5, 50, min_fetch_period_ms=1000), CALLS, 5, True),
        (Deployment(2, 50, min_fetch_period_ms=0), CALLS, 10, False),
        (Deployment(200, 50, streams=200), CALLS, 4, True),
        (Deployment(2, 1, records_per_second=1000, record_bytes=1024), READ, 2048000, True),
        (Deployment(3, 1, records_per_second=1000, record_bytes=1024), READ, 3072000, False),
        (Deployment(20, 50, mode="efo"), CONSUMERS, 20, True),
        (Deployment(21, 50, mode="efo"), CONSUMERS, 21, False),
        (Deployment(200, 50), LISTINGS, 20, True),
        (Deployment(200, 1001), LISTINGS, 40, True),
        (Deployment(11000, 1), LISTINGS, 1100, False),
        (Deployment(1, 1, records_per_second=1100, record_bytes=1024), WRITTEN, 1126400, False),
        (Deployment(1, 20001), "shards of the account", 20001, False),
        (Deployment(200, 50), "start of all queries together, for DescribeStreamSummary", 10, True),
    ],
)
def test_a_quota_is_compared_with_its_use(deployment: Deployment, name: str, used: float, fits: bool) -> None:
    line = next(line for line in sizing(deployment) if line.name == name)
    assert (line.used, line.fits) == (used, fits)


def test_the_program_prints_each_quota_and_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--queries", "200", "--shards", "50"]) == 1
    text = capsys.readouterr().out
    assert "200 queries, 1 x 50 shards, consumerMode=polling" in text
    assert "EXCEED GetRecords calls for a shard: 800 of 5 calls/s" in text
    assert "each polls a shard every 40 s. At most 1 can" in text
    assert main(["--queries", "1", "--shards", "50"]) == 0
    assert "EXCEED" not in capsys.readouterr().out


def test_a_wrong_number_is_an_error_of_the_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--queries", "0", "--shards", "50"])
    assert "queries must be positive, was 0" in capsys.readouterr().err
