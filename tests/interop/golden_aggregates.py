"""The golden KPL containers, made by the reference aggregator `aws-kinesis-agg` from PyPI.

`python tests/interop/golden_aggregates.py` renews the file. `GoldenContainersSuite` compares the project's
aggregator and de-aggregator with it byte for byte; `test_aggregated_records.py` does so with the reference ones.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, NamedTuple

from aws_kinesis_agg.aggregator import RecordAggregator

GOLDEN = Path(__file__).parents[2] / "connector-scala/core/src/test/resources/golden/aggregated-records.json"


class UserRecord(NamedTuple):
    key: str
    data: bytes
    hash_key: str | None = None


def cases() -> dict[str, list[UserRecord]]:
    """Return user records by the name of their case, the same at every run."""
    noise = random.Random(1)
    largest = str(2**128 - 1)
    return {
        "one record": [UserRecord("k", b"data")],
        "empty data": [UserRecord("k", b""), UserRecord("k", b"")],
        "keys that repeat": [UserRecord(f"k{i % 3}", b"%d" % i) for i in range(9)],
        "keys that are not ASCII": [UserRecord("clé-ключ-鍵-🔑", "données".encode())],
        "bytes of every value": [UserRecord("k", bytes(range(256)))],
        "explicit hash keys": [UserRecord("k", b"a", "0"), UserRecord("k", b"b", largest), UserRecord("l", b"c", "0")],
        "some explicit hash keys": [UserRecord("k", b"a"), UserRecord("k", b"b", "17"), UserRecord("l", b"c")],
        "more keys than one byte counts": [UserRecord(f"key-{i}", b"%d" % i, str(i)) for i in range(300)],
        "data whose length takes three bytes": [UserRecord("k", noise.randbytes(16_400)), UserRecord("k", b"small")],
    }


def container(records: list[UserRecord]) -> bytes:
    """Return the container into which the reference aggregator packs the records."""
    aggregator = RecordAggregator()
    for record in records:
        assert aggregator.add_user_record(record.key, record.data, record.hash_key) is None
    packed: bytes = aggregator.clear_and_get().get_contents()[2]
    return packed


def rendered() -> str:
    """Return the text of the file."""
    golden: list[dict[str, Any]] = [
        {
            "case": name,
            "records": [{"key": r.key, "hashKey": r.hash_key, "data": r.data.hex()} for r in records],
            "container": container(records).hex(),
        }
        for name, records in cases().items()
    ]
    return json.dumps(golden, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    GOLDEN.parent.mkdir(parents=True, exist_ok=True)
    GOLDEN.write_text(rendered(), encoding="utf-8")
