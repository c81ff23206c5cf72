"""Pictures for notebooks: the lag of a query, and the shards of a stream with their lineage.

A picture is an SVG that a notebook shows by itself. No other package is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

_WIDTH = 640
_COLORS = {"open": "#2a78c8", "closed": "#b8bfc7", "query": "#c8502a", "fetched": "#2a78c8"}
_STYLE = "font:12px system-ui,sans-serif"
# The hash keys of a stream are those from 0 to this one.
_LAST_KEY = 2**128 - 1


@dataclass(frozen=True)
class Picture:
    """An SVG. A notebook shows it, and ``save`` writes it to a file."""

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> None:
        """Write the SVG to a file."""
        Path(path).write_text(self.svg, encoding="utf-8")


def plot_lag(query: StreamingQuery) -> Picture:
    """Draw how far a query is behind, over its recent batches, and the shards that are furthest behind now.

    The upper line is the lag of the query, the lower one that of fetching. Spark keeps the last 100 progresses.
    """
    return lag_picture(query.recentProgress)


def lag_picture(progresses: Iterable[Mapping[str, Any]]) -> Picture:
    """Draw the lag from progresses, the oldest first. See ``plot_lag``.

    A progress is a dict in pyspark 3.5, and has the same keys in later versions.
    """
    points = [_Point.of(progress) for progress in progresses]
    known = [point for point in points if point is not None]
    if not known:
        return _svg(["no batch of this query has a lag yet"], 40, [])
    first, height = known[0].seconds, 160
    span = max(1.0, known[-1].seconds - first)
    top = max(1000, *(max(point.query, point.fetched) for point in known))

    def line(name: str, values: Iterable[int]) -> str:
        pairs = zip(known, values, strict=True)
        path = " ".join(
            f"{60 + (point.seconds - first) / span * (_WIDTH - 80):.1f},{20 + (1 - value / top) * height:.1f}"
            for point, value in pairs
        )
        return f'<polyline fill="none" stroke="{_COLORS[name]}" stroke-width="2" points="{path}"/>'

    shapes = [
        f'<line x1="60" y1="{20 + height}" x2="{_WIDTH - 20}" y2="{20 + height}" stroke="#999"/>',
        f'<text x="55" y="28" text-anchor="end">{_duration(top)}</text>',
        f'<text x="55" y="{20 + height}" text-anchor="end">0</text>',
        line("fetched", [point.fetched for point in known]),
        line("query", [point.query for point in known]),
    ]
    texts = [f"lag of the query: {_duration(known[-1].query)}, of fetching: {_duration(known[-1].fetched)}"]
    texts += [f"behind: {shard}" for shard in known[-1].worst]
    return _svg(texts, 40 + height, shapes)


@dataclass(frozen=True)
class _Point:
    seconds: float
    query: int
    fetched: int
    worst: Sequence[str]

    @staticmethod
    def of(progress: Mapping[str, Any]) -> _Point | None:
        """Return the lags of the first source that has some: the connector's."""
        for source in progress["sources"]:
            metrics: Mapping[str, str] = source.get("metrics") or {}
            if "maxMsBehindLatest" in metrics:
                time = datetime.fromisoformat(progress["timestamp"].replace("Z", "+00:00")).timestamp()
                worst = [shard for shard in metrics.get("worstShards", "").split("; ") if shard]
                fetched = int(metrics.get("maxFetchedMsBehindLatest", 0))
                return _Point(time, int(metrics["maxMsBehindLatest"]), fetched, worst)
        return None


def show_shards(shards: Iterable[Mapping[str, Any]]) -> Picture:
    """Draw the shards of a stream: their hash keys from left to right, and children below their parents.

    ``shards`` is what ListShards returns: ``boto3.client("kinesis").list_shards(StreamName=…)["Shards"]``, or the
    same of the emulator. Open shards are blue, closed ones grey.
    """
    known = {shard["ShardId"]: shard for shard in shards}
    rows = {name: _generation(name, known) for name in known}
    shapes = []
    for name, shard in sorted(known.items()):
        keys = shard["HashKeyRange"]
        left, right = int(keys["StartingHashKey"]), int(keys["EndingHashKey"])
        x = 20 + left / _LAST_KEY * (_WIDTH - 40)
        width = max(3.0, (right - left) / _LAST_KEY * (_WIDTH - 40) - 2)
        y = 20 + rows[name] * 40
        state = "closed" if "EndingSequenceNumber" in shard["SequenceNumberRange"] else "open"
        number = name.removeprefix("shardId-").lstrip("0") or "0"
        shapes.append(
            f"<g><title>{escape(name)}, {state}</title>"
            f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="28" rx="3" fill="{_COLORS[state]}"/>'
            f'<text x="{x + width / 2:.1f}" y="{y + 18}" text-anchor="middle" fill="#fff">'
            f"{escape(number)}</text></g>"
        )
    closed = sum("EndingSequenceNumber" in shard["SequenceNumberRange"] for shard in known.values())
    text = f"{len(known) - closed} open and {closed} closed shards, with their hash keys from left to right"
    return _svg([text], 20 + (max(rows.values(), default=0) + 1) * 40, shapes)


def _generation(name: str, shards: Mapping[str, Mapping[str, Any]]) -> int:
    """Return the number of generations above a shard that the list has."""
    generation, level = 0, {name}
    while True:
        parents = {
            shards[shard][key]
            for shard in level
            for key in ("ParentShardId", "AdjacentParentShardId")
            if shards[shard].get(key) in shards
        }
        if not parents:
            return generation
        generation, level = generation + 1, parents


def _duration(millis: int) -> str:
    if millis < 120_000:
        return f"{millis / 1000:.1f} s"
    return f"{millis / 60_000:.1f} min" if millis < 7_200_000 else f"{millis / 3_600_000:.1f} h"


def _svg(texts: Sequence[str], height: int, shapes: Sequence[str]) -> Picture:
    lines = [f'<text x="20" y="{height + 16 * (row + 1)}">{escape(text)}</text>' for row, text in enumerate(texts)]
    total = height + 16 * len(texts) + 12
    inner = "\n".join([*shapes, *lines])
    return Picture(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {total}" width="{_WIDTH}" height="{total}" '
        f'style="{_STYLE}">\n{inner}\n</svg>'
    )
