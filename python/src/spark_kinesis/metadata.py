"""Writes the metadata document that names the physical streams of logical streams."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_kinesis._builder import Builder
from spark_kinesis._values import to_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from typing_extensions import Self

    from spark_kinesis._generated import PhysicalStreamState


class LogicalStreamMethods(Builder):
    """Methods of the source and the sink of a logical stream."""

    __slots__ = ()

    def metadata(self, service: str, *, refresh: str | int | timedelta | None = None) -> Self:
        """Look up the physical streams of ``stream_id`` at a metadata service.

        ``service`` is ``file:`` and a path of any file system of Spark, an ``https://`` address, or ``class:`` and the
        name of a class. A service in Python is reached through one of the first two. ``refresh`` is the time between
        two requests.
        """
        copy = self._with_kind("metadataService", service, str)
        if refresh is None:
            return copy
        return copy._with_kind("metadataRefreshInterval", refresh, str, int, timedelta)


@dataclass(frozen=True)
class PhysicalStream:
    """One Kinesis stream of a logical stream. The default of a member that is None is that of the document.

    ``state`` is ``active`` (read and written), ``draining`` (only read, to its end) or ``standby`` (not used).
    ``after`` has the ARNs of the streams that a query reads to their end before it reads this one. ``endpoint``,
    ``role``, ``external_id`` and ``consumer_arn`` override the options of the query, as far as its options allow it.
    ``start_at`` takes what the option ``initialPosition`` takes.
    """

    arn: str
    state: PhysicalStreamState | None = None
    endpoint: str | None = None
    role: str | None = None
    external_id: str | None = None
    consumer_arn: str | None = None
    weight: int | None = None
    priority: int | None = None
    start_at: str | datetime | None = None
    after: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return the stream as the document has it; members that are None are left out."""
        members = {
            "arn": self.arn,
            "state": self.state,
            "endpoint": self.endpoint,
            "role": self.role,
            "externalId": self.external_id,
            "consumerArn": self.consumer_arn,
            "weight": self.weight,
            "priority": self.priority,
            "startAt": None if self.start_at is None else to_text(self.start_at),
            "after": list(self.after) or None,
        }
        return {name: value for name, value in members.items() if value is not None}


class StreamMetadata:
    """The metadata document in a local file. Every change replaces the file at once and increases its version.

    >>> StreamMetadata("/etc/streams.json").put("orders", [PhysicalStream(old, "draining"), PhysicalStream(new)])

    One process writes; any number of queries read the file with ``metadata("file:/etc/streams.json")``.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    @property
    def service(self) -> str:
        """The value of the option ``metadataService`` for this file."""
        return f"file:{self.path.resolve()}"

    def read(self) -> dict[str, Any]:
        """Return the document; one without streams if there is no file."""
        try:
            document: dict[str, Any] = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {"version": 0, "streams": {}}
        return document

    def put(self, stream_id: str, streams: Sequence[PhysicalStream]) -> int:
        """Replace the physical streams of a logical stream, and return the new version."""
        return self._change(stream_id, [stream.document() for stream in streams])

    def remove(self, stream_id: str) -> int:
        """Remove a logical stream, and return the new version."""
        return self._change(stream_id, None)

    def _change(self, stream_id: str, streams: list[dict[str, Any]] | None) -> int:
        document = self.read()
        document["streams"] = {k: v for k, v in document["streams"].items() if k != stream_id}
        if streams is not None:
            document["streams"][stream_id] = streams
        document["version"] += 1
        # A reader sees the old or the new document, never a part of one.
        handle, name = tempfile.mkstemp(prefix=f".{self.path.name}.", dir=self.path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(document, file, indent=2)
                file.flush()
                os.fsync(file.fileno())
            # Temporary files are private, and the queries may run as another user.
            os.chmod(name, 0o644)
            os.replace(name, self.path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        version: int = document["version"]
        return version
