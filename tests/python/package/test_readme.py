"""What the README shows is run, with the emulator of the tests in the place of the one that it names."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from spark_kinesis import KinesisEmulator

NAMED = "http://127.0.0.1:4567"


def _blocks(root: Path, language: str, page: str = "README.md") -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", (root / page).read_text(), re.MULTILINE | re.DOTALL)


def _counts(kinesis: KinesisEmulator) -> dict[str, int]:
    counts: dict[str, int] = {}
    for record in kinesis.records("counts"):
        counts[record.partition_key] = max(int(record.data), counts.get(record.partition_key, 0))
    return counts


def _await(condition: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(0.2)


@pytest.fixture(scope="module")
def streams(kinesis: KinesisEmulator) -> KinesisEmulator:
    for name in ("orders", "counts"):
        kinesis.create_stream(name)
    kinesis.put_records("orders", [("customer-1", "a"), ("customer-2", "b"), ("customer-1", "c")])
    return kinesis


def test_the_first_two_commands_are_the_main_job_and_the_tests(root: Path) -> None:
    headings = re.findall(r"^## (.*)$", (root / "README.md").read_text(), re.MULTILINE)
    assert headings[0] == "Getting started"
    assert _blocks(root, "bash")[:2] == ["./dev quickstart\n", "./dev test\n"]


def test_the_python_examples_run(
    root: Path, streams: KinesisEmulator, spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names: dict[str, object] = {}
    for block in _blocks(root, "python"):
        program = block.replace(NAMED, streams.endpoint).replace("/tmp/orders-checkpoint", str(tmp_path))
        exec(compile(program, "README.md", "exec"), names)
        query = names.pop("query", None)
        if isinstance(query, StreamingQuery):
            _await(lambda: _counts(streams) == {"customer-1": 2, "customer-2": 1})
            query.stop()
    assert "customer-1" in capsys.readouterr().out


def test_the_sql_examples_run(root: Path, streams: KinesisEmulator, spark: SparkSession) -> None:
    (block,) = _blocks(root, "sql")
    results = [spark.sql(s.replace(NAMED, streams.endpoint)).collect() for s in block.split(";") if s.strip()]
    assert [tuple(row) for row in results[-1]] == [("customer-7", '{"total": 12}')]
    assert spark.readStream.table("orders").isStreaming


def test_the_examples_of_the_emulators_page_run(
    root: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = _blocks(root, "python", "docs/emulator.md")
    exec(compile(first, "docs/emulator.md", "exec"), {"spark": spark})
    assert "customer-2" in capsys.readouterr().out
    with KinesisEmulator() as other:
        exec(compile(second, "docs/emulator.md", "exec"), {"kinesis": other, "timedelta": timedelta})


def test_every_link_between_the_pages_leads_somewhere(root: Path) -> None:
    pages = [root / "README.md", root / "CONTRIBUTING.md", *(root / "docs").glob("*.md")]
    for page in pages:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
