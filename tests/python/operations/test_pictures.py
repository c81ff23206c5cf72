"""The pictures for notebooks, from progresses and listings as data."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from spark_kinesis.pictures import lag_picture, plot_lag, show_shards

LAST_KEY = 2**128 - 1
SVG = "{http://www.w3.org/2000/svg}"


def _progress(second: int, **metrics: str) -> Any:
    # In pyspark 3.5, a source without metrics has no such key.
    return {"timestamp": f"2026-11-20T12:00:{second:02}.000Z", "sources": [{}, {"metrics": metrics}]}


def _shard(index: int, start: int, end: int, *parents: int, closed: bool = False) -> dict[str, Any]:
    def name(number: int) -> str:
        return f"shardId-{number:012}"

    ends = {"EndingSequenceNumber": "9"} if closed else {}
    keys = ("ParentShardId", "AdjacentParentShardId")
    return {
        "ShardId": name(index),
        "HashKeyRange": {"StartingHashKey": str(start), "EndingHashKey": str(end)},
        "SequenceNumberRange": {"StartingSequenceNumber": "1", **ends},
        **{key: name(parent) for key, parent in zip(keys, parents, strict=False)},
    }


def _texts(svg: str) -> list[str]:
    return ["".join(text.itertext()) for text in ET.fromstring(svg).iter(f"{SVG}text")]


def _boxes(svg: str) -> dict[str, tuple[float, int, str]]:
    """Return the left edge, the row and the color of each shard."""
    found = {}
    for group in ET.fromstring(svg).iter(f"{SVG}g"):
        title, box = group.find(f"{SVG}title"), group.find(f"{SVG}rect")
        assert title is not None
        assert box is not None
        found["".join(title.itertext())] = (float(box.attrib["x"]), int(box.attrib["y"]), box.attrib["fill"])
    return found


def test_the_lag_of_a_query_is_a_line_over_its_batches() -> None:
    worst = "shardId-000000000001: 4000 ms"
    picture = lag_picture(
        [
            _progress(0, maxMsBehindLatest="0", maxFetchedMsBehindLatest="0"),
            _progress(10, maxMsBehindLatest="2000", maxFetchedMsBehindLatest="1000"),
            _progress(20, maxMsBehindLatest="4000", maxFetchedMsBehindLatest="0", worstShards=worst),
        ]
    )
    lines = [line.attrib["points"].split() for line in ET.fromstring(picture.svg).iter(f"{SVG}polyline")]
    assert lines[1] == ["60.0,180.0", "340.0,100.0", "620.0,20.0"]
    assert lines[0][2] == "620.0,180.0"
    assert "lag of the query: 4.0 s, of fetching: 0.0 s" in _texts(picture.svg)
    assert f"behind: {worst}" in _texts(picture.svg)


def test_a_query_without_a_batch_has_a_picture_that_says_so() -> None:
    query: Any = SimpleNamespace(recentProgress=[{"sources": []}])
    assert "no batch of this query has a lag yet" in _texts(plot_lag(query).svg)


@pytest.mark.parametrize(
    ("millis", "text"), [(0, "0.0 s"), (119_999, "120.0 s"), (120_000, "2.0 min"), (7_200_000, "2.0 h")]
)
def test_a_lag_has_the_unit_that_fits(millis: int, text: str) -> None:
    picture = lag_picture([_progress(0, maxMsBehindLatest=str(millis))])
    assert f"lag of the query: {text}, of fetching: 0.0 s" in _texts(picture.svg)


def test_children_are_below_their_parents_and_closed_shards_have_another_color() -> None:
    half = LAST_KEY // 2
    shards = [
        _shard(0, 0, LAST_KEY, closed=True),
        _shard(1, 0, half, 0, closed=True),
        _shard(2, half + 1, LAST_KEY, 0, closed=True),
        _shard(3, 0, LAST_KEY, 1, 2),
        _shard(7, 0, half, 99),
    ]
    picture = show_shards(shards)
    boxes = _boxes(picture.svg)
    rows = {name.split(",")[0][-1]: box[1] for name, box in boxes.items()}
    assert rows["0"] < rows["1"] == rows["2"] < rows["3"]
    assert rows["7"] == rows["0"], "its parent is not in the list"
    open_color = boxes["shardId-000000000003, open"][2]
    closed_color = boxes["shardId-000000000000, closed"][2]
    assert open_color != closed_color
    assert boxes["shardId-000000000002, closed"][0] > boxes["shardId-000000000001, closed"][0]
    assert "2 open and 3 closed shards" in " ".join(_texts(picture.svg))


def test_a_notebook_shows_a_picture_and_a_file_has_it(tmp_path: Path) -> None:
    picture = show_shards([_shard(0, 0, LAST_KEY)])
    picture.save(tmp_path / "shards.svg")
    assert (tmp_path / "shards.svg").read_text() == picture._repr_svg_()
    assert re.match(r"<svg ", picture.svg)
