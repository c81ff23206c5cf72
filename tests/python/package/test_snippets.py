"""Run the examples of each page in their order in one new Python process, exactly as a reader would paste them.

The only change is the port of the emulator, which may be in use. A block that cannot run here states the reason in
its fence, as skip="reason".
"""

from __future__ import annotations

import json
import os
import re
import socket
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from programs import program, run

ROOT = Path(__file__).resolve().parents[3]
PAGES = [ROOT / "README.md", ROOT / "python" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PORT = "4567"
FENCE = re.compile(r'^```(\w*)(?: skip="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)

# Some of the lines that the examples of a page print.
PRINTS = {
    "README.md": [
        "partition_key='customer-1', data=b'2'",
        "|-- approximateArrivalTimestamp",
        '|customer-7|{"total": 12}',
    ],
    "docs/sql.md": ["|k|1|"],
    "docs/firehose.md": ['{"customer":"customer-1","total":12}'],
    "docs/writing.md": ["data=b'2'", "its partition key is empty"],
    "docs/real-time.md": ["data=b'row 4'"],
    "docs/tutorial.md": ["orders, ", "open shards: 2"],
    "docs/operations.md": [
        "metrics_nightly_driver_kinesis_source_query_etl_stream_orders_maxMsBehindLatest_Value",
        "metrics_nightly_driver_kinesis_source_query_etl_rows_Value",
    ],
    "docs/examples.md": [
        "|2026-11-20 12:00:00|book|",
        "40 orders, the last one with 119",
        "120 orders, 20 of them large",
        "1 record cannot be parsed",
    ],
    "docs/emulator.md": ["customer-2", '"endpoint":"http://127.0.0.1:'],
}


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    skip: str
    text: str


def _blocks(page: Path) -> list[Block]:
    return [Block(*found) for found in FENCE.findall(page.read_text())]


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def _free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def _as_python(block: Block) -> str:
    if block.language == "sql":
        statements = [statement.strip() for statement in block.text.split(";") if statement.strip()]
        return "".join(f"spark.sql({statement!r}).show(truncate=False)\n" for statement in statements)
    if block.language == "bash":
        return f"import subprocess\nsubprocess.run(['bash', '-euo', 'pipefail', '-c', {block.text!r}], check=True)\n"
    return block.text


def _runs(block: Block) -> bool:
    return not block.skip and block.language in ("python", "sql", "bash")


PAGES_THAT_RUN = [page for page in PAGES if any(_runs(block) for block in _blocks(page))]
SKIPPED = [(page, block) for page in PAGES for block in _blocks(page) if block.skip]


@pytest.mark.parametrize("page", PAGES_THAT_RUN, ids=_name)
def test_the_examples_of_a_page_run_in_their_order(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "\n".join(_as_python(block) for block in _blocks(page) if _runs(block))
    text = re.sub(rf"\b{PORT}\b", _free_port(), text).replace("/tmp/", f"{tmp_path}/")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = run([sys.executable, program(tmp_path, text)], PATH=path)
    squeezed = re.sub(r" +", "", done.stdout)
    for expected in PRINTS.get(_name(page), []):
        assert expected.replace(" ", "") in squeezed, done.stdout


@pytest.mark.parametrize(("page", "block"), SKIPPED, ids=lambda value: _name(value) if isinstance(value, Path) else "")
def test_a_block_that_does_not_run_has_a_reason(page: Path, block: Block) -> None:
    pytest.skip(f"{_name(page)}: {block.text.splitlines()[0]}: {block.skip}")


def test_every_block_has_a_language_that_runs_or_is_data() -> None:
    blocks = [block for page in PAGES for block in _blocks(page)]
    assert {block.language for block in blocks} <= {"python", "bash", "sql", "json", "text", "scala", "mermaid"}
    assert all(block.skip for block in blocks if block.language == "scala")
    for block in blocks:
        if block.language == "json":
            json.loads(block.text)
    fences = sum(page.read_text().count("\n```") for page in PAGES)
    assert fences == 2 * sum(len(_blocks(page)) for page in PAGES)


def test_the_first_two_commands_run_the_main_job_and_the_tests() -> None:
    headings = re.findall(r"^## (.*)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert headings[0] == "Getting started"
    commands = [block.text for block in _blocks(ROOT / "README.md") if block.language == "bash"]
    assert commands[:2] == ["./dev quickstart\n", "./dev test\n"]


def test_every_link_between_the_pages_has_a_target() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{_name(page)}: {link}"
