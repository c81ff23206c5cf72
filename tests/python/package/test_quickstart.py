from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "python" / "examples"


def _run(*arguments: str, example: str = "quickstart.py") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLES / example), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


def test_a_small_quick_start_counts_every_word_across_micro_batches() -> None:
    done = _run("--records", "5000", "--batches", "5")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"records in +5,000 ", done.stdout)
    batches = re.search(r"micro-batches +(\d+)", done.stdout)
    assert batches is not None
    assert int(batches.group(1)) >= 5
    assert re.search(r"All [\d,]+ counts are right", done.stdout)
    assert "5,000 of 5,000 (100%)" in done.stderr
    bars = re.findall(r"^ +\S+  █+ [\d,]+$", done.stdout, re.MULTILINE)
    assert len(bars) == 8


def test_the_picture_has_the_greatest_counts_as_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import quickstart

    drawn = quickstart.picture({"the": 4000, "stream": 10, "of": 2000, "a": 1}, lines=3, width=8)
    assert drawn.splitlines()[1:] == ["     the  ████████ 4,000", "      of  ████ 2,000", "  stream  █ 10"]


def test_the_quick_start_stays_until_it_is_interrupted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import quickstart

    class Interrupted(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            raise KeyboardInterrupt

    monkeypatch.setattr(threading, "Event", Interrupted)
    before = signal.getsignal(signal.SIGINT)
    try:
        spark: Any = SimpleNamespace(sparkContext=SimpleNamespace(uiWebUrl="http://127.0.0.1:4040"))
        kinesis: Any = SimpleNamespace(endpoint="http://127.0.0.1:4567")
        quickstart._stay(spark, kinesis)
    finally:
        signal.signal(signal.SIGINT, before)
    shown = capsys.readouterr().out.splitlines()
    assert shown[:2] == ["Emulator: http://127.0.0.1:4567/", "Spark:    http://127.0.0.1:4040/StreamingQuery/"]


def test_a_wrong_count_is_printed_and_ends_with_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import quickstart

    assert quickstart.verdict({"a": 2, "b": 1}, {"a": 2, "b": 1}, 3, 3) == 0
    assert quickstart.verdict({"a": 2, "b": 1}, {"a": 1, "b": 1}, 3, 3) == 1
    assert "a: 1 instead of 2" in capsys.readouterr().out
    assert quickstart.verdict({"a": 2}, {"a": 2, "c": 1}, 3, 3) == 1
    assert quickstart.verdict({"a": 2}, {"a": 2}, 2, 3) == 1


def test_the_fan_out_example_reads_each_record_once_across_a_split() -> None:
    done = _run("--records", "200", example="fan_out.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "shardId-000000000000 is split into two children" in done.stdout
    assert "200 records read, 0 of them missing or read twice" in done.stdout
    assert re.search(r"median \d+ ms", done.stdout)


def test_the_example_of_ordered_writes_stores_the_rows_of_each_key_in_order() -> None:
    done = _run(example="ordered.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "batch: 1,000 rows of 20 keys, 0 keys out of order" in done.stdout
    assert "stream: 1,000 rows of 20 keys, 0 keys out of order" in done.stdout


def test_the_real_time_example_copies_each_record_once_and_shows_how_long_that_takes() -> None:
    done = _run("--records", "600", example="real_time.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "stopped gracefully, batch committed: True" in done.stdout
    assert "601 records copied, 0 of them missing or written twice" in done.stdout
    assert re.search(r"<= +\d+ ms +#+ +\d+", done.stdout)


def test_the_migration_example_reads_each_record_once_and_each_key_in_order() -> None:
    done = _run("--records", "600", example="migration.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "orders-new: " in done.stdout
    assert "orders-old: " in done.stdout
    assert "600 records put, 600 read, each once" in done.stdout
    assert "each key in order" in done.stdout
