"""Aggregates as other producers make them, with the rows that a reader must find in them.

`npm install --prefix DIR aws-kinesis-agg@4.2.8` and `python tests/interop/producer_vectors.py DIR` renew the file,
which `ProducerVectorsSuite` reads in every mode. Two vectors are the output of the libraries for Python and Node.js.
The third has one random key for all records, as Fluent Bit documents it, and was packed by the library for Python.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from golden_aggregates import UserRecord, container

VECTORS = Path(__file__).parents[2] / "connector-scala/core/src/test/resources/golden/producer-vectors.json"
NODE = """
const users = JSON.parse(process.argv[1])
const records = users.map(([partitionKey, data, explicitHashKey]) => ({partitionKey, data, explicitHashKey}))
const packed = (encoded, done) => { console.log(encoded.data.toString('hex')); done(null, {}) }
require('aws-kinesis-agg').aggregate(records, packed, () => {}, error => { throw error })
"""


def users() -> list[UserRecord]:
    """Return records of many keys, whose hashes are in the whole range."""
    return [UserRecord(f"key-{i}", f"value {i}".encode()) for i in range(20)]


def lines() -> list[UserRecord]:
    """Return the lines of a log with one key."""
    return [UserRecord("6mOpQ0xa", json.dumps({"log": f"line {i}"}).encode() + b"\n") for i in range(5)]


def node_container(modules: Path) -> bytes:
    """Return the container into which the library for Node.js packs the records."""
    records = json.dumps([[user.key, user.data.decode(), user.hash_key] for user in users()])
    command = ["node", "-e", NODE, records]
    return bytes.fromhex(
        subprocess.run(command, cwd=modules, check=True, capture_output=True, text=True).stdout.strip()
    )


def vector(name: str, records: list[UserRecord], packed: bytes) -> dict[str, Any]:
    """Return a vector. `lower` says whether the hash of a row is in the lower half of the range."""
    rows = [
        {"key": user.key, "data": user.data.hex(), "lower": hashlib.md5(user.key.encode()).digest()[0] < 0x80}
        for user in records
    ]
    return {"producer": name, "rows": rows, "container": packed.hex()}


if __name__ == "__main__":
    vectors = [
        vector("aws_kinesis_agg for Python", users(), container(users())),
        vector("aws-kinesis-agg for Node.js", users(), node_container(Path(sys.argv[1]))),
        vector("one random key, as Fluent Bit", lines(), container(lines())),
    ]
    VECTORS.write_text(json.dumps(vectors, indent=1) + "\n", encoding="utf-8")
