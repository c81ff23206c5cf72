from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import pytest

from spark_kinesis import KinesisSource, PhysicalStream, StreamMetadata

if TYPE_CHECKING:
    from pathlib import Path

OLD = "arn:aws:kinesis:us-east-1:123456789012:stream/orders-old"
NEW = "arn:aws:kinesis:eu-west-1:123456789012:stream/orders-new"


def test_a_logical_stream_and_its_service_are_options() -> None:
    source = KinesisSource(stream_id="orders").metadata("file:s3a://bucket/streams.json", refresh="30s")
    assert source.on_stream_removed("park").options() == {
        "streamId": "orders",
        "metadataService": "file:s3a://bucket/streams.json",
        "metadataRefreshInterval": "30s",
        "onStreamRemoved": "park",
    }
    assert KinesisSource(stream_id=["a", "b"]).options() == {"streamId": "a,b"}


def test_a_token_is_not_shown() -> None:
    source = KinesisSource(stream_id="orders").metadata("https://example.com/streams").metadata_token("abcdef")
    assert "abcdef" not in repr(source)
    assert source.options()["metadataToken"] == "abcdef"


def test_each_change_replaces_the_document_and_increases_its_version(
    tmp_path: Path,
) -> None:
    metadata = StreamMetadata(tmp_path / "streams.json")
    assert metadata.read() == {"version": 0, "streams": {}}
    assert metadata.put("orders", [PhysicalStream(OLD)]) == 1
    assert metadata.put("clicks", [PhysicalStream(OLD + "-clicks", weight=5)]) == 2
    noon = datetime(2026, 11, 20, 12, tzinfo=timezone.utc)
    new = PhysicalStream(NEW, after=(OLD,), start_at=noon, external_id="x")
    assert metadata.put("orders", [PhysicalStream(OLD, "draining"), new]) == 3
    assert metadata.read() == {
        "version": 3,
        "streams": {
            "clicks": [{"arn": OLD + "-clicks", "weight": 5}],
            "orders": [
                {"arn": OLD, "state": "draining"},
                {
                    "arn": NEW,
                    "externalId": "x",
                    "startAt": "2026-11-20T12:00:00.000Z",
                    "after": [OLD],
                },
            ],
        },
    }
    assert metadata.remove("clicks") == 4
    assert [*metadata.read()["streams"]] == ["orders"]
    assert [file.name for file in tmp_path.iterdir()] == ["streams.json"]


def test_a_document_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    metadata = StreamMetadata(tmp_path / "streams.json")
    metadata.put("orders", [PhysicalStream(OLD)])
    before = metadata.path.read_text()
    with pytest.raises(TypeError):
        metadata.put("orders", [PhysicalStream(NEW, role=object())])  # type: ignore[arg-type]
    assert metadata.path.read_text() == before
    assert json.loads(before)["version"] == 1
    assert [file.name for file in tmp_path.iterdir()] == ["streams.json"]
