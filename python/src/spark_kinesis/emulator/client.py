"""A small client for tests and examples with the emulator. It speaks JSON, and signs only for an account."""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any
from urllib.parse import urlsplit

# The limits of PutRecords, from "Quotas and limits" at docs.aws.amazon.com.
_MOST_ENTRIES = 500
_MOST_BYTES = 10 * 1024 * 1024


class ServiceError(Exception):
    """An error that the service returned. ``name`` is its type, for example ``ResourceNotFoundException``."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"{name}: {message}")
        self.name = name


@dataclass(frozen=True)
class Record:
    """A record of a stream."""

    partition_key: str
    data: bytes
    sequence_number: str
    shard_id: str
    arrival: float


class KinesisClient:
    """Calls operations by name over one connection. Threads must not share a client."""

    def __init__(
        self, endpoint: str, timeout: float = 60, *, account: str | None = None, region: str = "us-east-1"
    ) -> None:
        """With an account, requests are signed with its key for the region."""
        address = urlsplit(endpoint)
        self._host = address.netloc
        self._account = account
        self._region = region
        self._connection = http.client.HTTPConnection(address.hostname or "", address.port or 80, timeout=timeout)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def call(self, operation: str, **parameters: Any) -> dict[str, Any]:
        """Call an operation of the API and return the answer: ``call("ListShards", StreamName="orders")``."""
        headers = {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": f"Kinesis_20131202.{operation}"}
        content = json.dumps(parameters).encode()
        if self._account is not None:
            headers.update(_signature(self._account, self._region, self._host, content))
        self._connection.request("POST", "/", content, headers)
        answer = self._connection.getresponse()
        body = answer.read()
        result: dict[str, Any] = json.loads(body) if body else {}
        if answer.status != http.client.OK:
            name = str(result.get("__type", f"HTTP {answer.status}")).rpartition("#")[2]
            raise ServiceError(name, str(result.get("message", result.get("Message", ""))))
        return result

    def create_stream(self, name: str, shards: int = 1, *, timeout: float = 30) -> None:
        """Create a stream and wait until it is ACTIVE."""
        self.call("CreateStream", StreamName=name, ShardCount=shards)
        self.wait_until_active(name, timeout=timeout)

    def wait_until_active(self, name: str, *, timeout: float = 30) -> None:
        """Wait until the stream is ACTIVE. The calls stay within the quota of the service."""
        end = time.monotonic() + timeout
        while (state := self.status(name)) != "ACTIVE":
            if time.monotonic() > end:
                raise TimeoutError(f"stream {name} is still {state} after {timeout} s")
            time.sleep(0.1)

    def status(self, name: str) -> str:
        """Return ACTIVE, CREATING, UPDATING or DELETING."""
        answer = self.call("DescribeStreamSummary", StreamName=name)
        return str(answer["StreamDescriptionSummary"]["StreamStatus"])

    def put_records(self, stream: str, records: Iterable[tuple[str, bytes | str]], *, timeout: float = 60) -> int:
        """Put ``(partition key, data)`` pairs and return their number. Throttled records are sent again."""
        put = 0
        for batch in _batches(records):
            waiting = [{"PartitionKey": key, "Data": base64.b64encode(data).decode()} for key, data in batch]
            end = time.monotonic() + timeout
            while waiting:
                answer = self.call("PutRecords", StreamName=stream, Records=waiting)
                failed = [i for i, entry in enumerate(answer["Records"]) if "ErrorCode" in entry]
                put += len(waiting) - len(failed)
                waiting = [waiting[i] for i in failed]
                if waiting and time.monotonic() > end:
                    raise TimeoutError(
                        f"{len(waiting)} records were refused for {timeout} s: {answer['Records'][failed[0]]}"
                    )
                if waiting:
                    time.sleep(0.1)
        return put

    def shards(self, stream: str) -> list[dict[str, Any]]:
        """Return every shard that ListShards returns."""
        answer = self.call("ListShards", StreamName=stream)
        found: list[dict[str, Any]] = list(answer["Shards"])
        while token := answer.get("NextToken"):
            answer = self.call("ListShards", NextToken=token)
            found += answer["Shards"]
        return found

    def records(self, stream: str) -> Iterator[Record]:
        """Return every record that is in the stream now, shard by shard."""
        for shard in self.shards(stream):
            yield from self._records_of(stream, str(shard["ShardId"]))

    def _records_of(self, stream: str, shard: str) -> Iterator[Record]:
        start = self.call("GetShardIterator", StreamName=stream, ShardId=shard, ShardIteratorType="TRIM_HORIZON")
        iterator = start.get("ShardIterator")
        while iterator:
            try:
                answer = self.call("GetRecords", ShardIterator=iterator)
            except ServiceError as error:
                if error.name != "ProvisionedThroughputExceededException":
                    raise
                time.sleep(0.25)
                continue
            for entry in answer["Records"]:
                yield Record(
                    partition_key=entry["PartitionKey"],
                    data=base64.b64decode(entry["Data"]),
                    sequence_number=entry["SequenceNumber"],
                    shard_id=shard,
                    arrival=float(entry["ApproximateArrivalTimestamp"]),
                )
            iterator = answer.get("NextShardIterator")
            if not answer["Records"] and answer["MillisBehindLatest"] == 0:
                return


def _signature(account: str, region: str, host: str, content: bytes) -> dict[str, str]:
    """Return the headers of AWS Signature Version 4 for a POST to ``/`` with the key of an account of the emulator."""
    time = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    scope = f"{time[:8]}/{region}/kinesis/aws4_request"
    request = f"POST\n/\n\nhost:{host}\nx-amz-date:{time}\n\nhost;x-amz-date\n{hashlib.sha256(content).hexdigest()}"
    text = f"AWS4-HMAC-SHA256\n{time}\n{scope}\n{hashlib.sha256(request.encode()).hexdigest()}"
    key = b"AWS4emulator"
    for part in (*scope.split("/"), text):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    signed = f"Credential={account}/{scope}, SignedHeaders=host;x-amz-date, Signature={key.hex()}"
    return {"X-Amz-Date": time, "Authorization": f"AWS4-HMAC-SHA256 {signed}"}


def _batches(records: Iterable[tuple[str, bytes | str]]) -> Iterator[list[tuple[str, bytes]]]:
    batch: list[tuple[str, bytes]] = []
    size = 0
    for key, data in records:
        payload = data.encode() if isinstance(data, str) else data
        entry = len(payload) + len(key.encode())
        if batch and (len(batch) == _MOST_ENTRIES or size + entry > _MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append((key, payload))
        size += entry
    if batch:
        yield batch
