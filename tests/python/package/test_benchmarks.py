"""The figures in bench/README.md are named as in the results of the benchmarks, of which only whole runs are kept."""

import itertools
import json
import re
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[3] / "bench"
RESULTS = sorted((BENCH / "results").glob("*.json"))


def listed() -> set[str]:
    lines = (line.split() for line in (BENCH / "benchmarks.list").read_text().splitlines())
    return {line[0] for line in lines if line and not line[0].startswith("#")}


def keys(value: object) -> set[str]:
    """The keys of all objects in a JSON value."""
    if isinstance(value, dict):
        return set(value).union(*map(keys, value.values()))
    return set().union(*map(keys, value)) if isinstance(value, list) else set()


def rows() -> list[list[str]]:
    """The code in the first cell of each row: the name of a benchmark, and keys of its results."""
    _, table = (BENCH / "README.md").read_text().split("| Figure | Value | Meaning |\n|---|---|---|\n")
    cells = (line.split("|")[1] for line in itertools.takewhile(lambda line: line.startswith("|"), table.splitlines()))
    # A row without code continues the one above it.
    return [code for code in (re.findall("`([^`]+)`", cell) for cell in cells) if code]


def test_the_table_has_rows() -> None:
    assert len(rows()) > 10


@pytest.mark.parametrize("row", rows(), ids=" ".join)
def test_a_row_of_the_table_names_keys_of_a_benchmarks_results(row: list[str]) -> None:
    name, *figures = row
    assert name in listed()
    assert figures, f"the row of {name} names no figure"
    results = BENCH / "results" / f"{name}.json"
    if not results.exists():
        pytest.skip(f"bench/run {name} --json has not been run")
    assert not set(figures) - keys(json.loads(results.read_text()))


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_results_are_those_of_a_listed_benchmark(path: Path) -> None:
    result = json.loads(path.read_text())
    assert path.stem in listed()
    assert result["benchmark"] == path.stem
    assert {"commit", "at", "cpu", "cores", "jvm", "arguments"} <= set(result)


KEPT = {"benchmark": "source", "figure": 1}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with a kept result, whose benchmark prints another figure and the arguments that it was given."""
    bench = tmp_path / "bench"
    (bench / "results").mkdir(parents=True)
    (bench / "results" / "source.json").write_text(json.dumps(KEPT))
    (bench / "benchmarks.list").write_text("source  org.example.Source  rows/s\n")
    (bench / "run").write_text((BENCH / "run").read_text())
    dev = tmp_path / "dev"
    dev.write_text('#!/bin/sh\nshift 3\necho \'round 1\'\necho "{\\"figure\\": 2, \\"given\\": \\"$*\\"}"\n')
    dev.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "is_kept"),
    [
        ("", True),
        ("--seconds 40", True),
        ("--only polling", False),
        ("--tls off", False),
        ("--engines flink", False),
        ("--rounds 1", False),
        ("--mode polling", False),
        ("--seconds 40 --only polling", False),
        ("--rounds 5 --keep", True),
    ],
)
def test_only_a_whole_run_replaces_the_kept_result(
    checkout: Path, capfd: pytest.CaptureFixture[str], arguments: str, is_kept: bool
) -> None:
    loader = SourceFileLoader("bench_run", str(checkout / "bench" / "run"))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    run = module_from_spec(spec)
    loader.exec_module(run)
    assert run.main(["source", "--json", *arguments.split()]) == 0
    output = capfd.readouterr()
    printed = json.loads(output.out)
    given = arguments.replace(" --keep", "")
    assert (printed["figure"], printed["given"], printed["arguments"]) == (2, given, given.split())
    kept = json.loads((checkout / "bench" / "results" / "source.json").read_text())
    assert kept == (printed if is_kept else KEPT)
    assert ("--keep replaces it" in output.err) is not is_kept
