"""The Prometheus rules and the Grafana board of docs/operations, with Prometheus itself.

It is taken from the PATH, else from Debian's package, which is unpacked into a cache.
"""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

ROOT = Path(__file__).resolve().parents[3]
OPERATIONS = ROOT / "docs" / "operations"
SCALA = ROOT / "connector-scala"
DEADLINE = 60.0
CACHE = Path.home() / ".cache" / "spark-kinesis" / "prometheus"
TOOLS = ("prometheus", "promtool")

# What Spark's servlet answers for the figures of a query, with its own names.
SCRAPED = """\
metrics_nightly_etl_driver_kinesis_source_query_my_etl_stream_new_orders_outageMs_Value{type="gauges"} 300000.0
metrics_nightly_etl_driver_kinesis_source_query_my_etl_stream_new_orders_expiresInMs_Value{type="gauges"} 7200000.0
metrics_nightly_etl_driver_kinesis_source_query_my_etl_stream_new_orders_shard_shardId_000000000001_\
msBehindLatest_Value{type="gauges"} 79200000.0
metrics_nightly_etl_driver_kinesis_source_query_my_etl_bufferedBytes_Value{type="gauges"} 2048.0
metrics_nightly_etl_7_kinesis_sink_query_my_etl_stream_copies_recordsOut_Value{type="gauges"} 12.0
metrics_nightly_etl_driver_jvm_heap_used_Value{type="gauges"} 1.0
"""


@pytest.fixture(scope="session")
def prometheus() -> Path:
    """Return the folder with the programs ``prometheus`` and ``promtool``."""
    found = shutil.which("promtool")
    if found and shutil.which("prometheus"):
        return Path(found).parent
    programs = CACHE / "usr" / "bin"
    if not all((programs / tool).exists() for tool in TOOLS):
        reason = _unpack()
        if reason:
            pytest.skip(f"prometheus is neither on the PATH nor a Debian package that can be downloaded: {reason}")
    return programs


def _unpack() -> str:
    """Download and unpack Debian's package. Return why that is not possible, or nothing."""
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        return "there is no apt-get"
    CACHE.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["apt-get", "download", "prometheus"], cwd=CACHE, capture_output=True, text=True, check=False)
    packages = sorted(CACHE.glob("prometheus_*.deb"))
    if done.returncode != 0 or not packages:
        return (done.stderr.strip().splitlines() or ["no package"])[-1]
    subprocess.run(["dpkg-deb", "-x", packages[-1], CACHE], check=True)
    return ""


def _board() -> dict[str, Any]:
    board: dict[str, Any] = json.loads((OPERATIONS / "grafana.json").read_text())
    return board


def _main_sources() -> str:
    return "".join(path.read_text() for path in SCALA.glob("*/src/main/scala/**/*.scala"))


def _expressions() -> list[str]:
    targets = [target for panel in _board()["panels"] for target in panel.get("targets", [])]
    return [target["expr"] for target in targets]


def test_each_alarm_is_raised_by_what_it_is_for_and_not_by_a_healthy_query(prometheus: Path) -> None:
    done = subprocess.run(
        [prometheus / "promtool", "test", "rules", "alerts-test.yml"],
        cwd=OPERATIONS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_alarm_has_a_test_and_a_section_of_the_runbook() -> None:
    rules = (OPERATIONS / "alerts.yml").read_text()
    tests = (OPERATIONS / "alerts-test.yml").read_text()
    headings = re.findall(r"^## (.*)$", (ROOT / "docs" / "runbook.md").read_text(), re.MULTILINE)
    anchors = {heading.lower().replace(" ", "-") for heading in headings}
    alarms = re.findall(r"- alert: (\w+)", rules)
    assert len(alarms) >= 7
    for alarm in alarms:
        raised = re.search(rf"alertname: {alarm}\n[^-]*exp_alerts|alertname: {alarm},[^}}]*exp_alerts", tests)
        assert raised, f"no test raises {alarm}"
    runbook = re.findall(r"runbook: runbook\.md#([\w-]+)", rules)
    assert len(runbook) == len(alarms)
    assert set(runbook) <= anchors


def test_the_table_of_questions_names_each_alarm_and_only_figures_that_the_connector_has() -> None:
    rows = re.findall(r"^\| [A-Z].*\? \|.*$", (ROOT / "docs" / "operations.md").read_text(), re.MULTILINE)
    assert len(rows) >= 12
    named = {alarm for row in rows for alarm in re.findall(r"`(Kinesis\w+)`", row)}
    assert named == set(re.findall(r"- alert: (\w+)", (OPERATIONS / "alerts.yml").read_text()))
    main = _main_sources()
    found = 0
    for row in rows:
        figures = re.findall(r"`(?:….)?(?:shard\.<id>\.)?([a-z][A-Za-z]+)`", row.split("|")[2])
        unknown = [figure for figure in figures if f'"{figure}"' not in main]
        assert not unknown, row
        found += len(figures)
    assert found > 20


def test_the_board_and_the_alarms_use_only_figures_that_the_connector_has() -> None:
    main = _main_sources()
    text = json.dumps(_board()) + (OPERATIONS / "alerts.yml").read_text()
    text += (OPERATIONS / "cost.yml").read_text()
    names = set(re.findall(r"kinesis_(?:source|sink)_(\w+)", text))
    assert len(names) > 20
    unknown = sorted(name for name in names if f'"{name}"' not in main)
    assert not unknown


def test_the_expressions_of_the_board_are_valid(prometheus: Path, tmp_path: Path) -> None:
    expressions = _expressions()
    assert len(expressions) > 20
    rules = [{"record": f"panel:{index}", "expr": expr} for index, expr in enumerate(expressions)]
    (tmp_path / "board.yml").write_text(json.dumps({"groups": [{"name": "board", "rules": rules}]}))
    done = subprocess.run(
        [prometheus / "promtool", "check", "rules", "board.yml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_gives_labels_to_sparks_names_and_raises_an_alarm(prometheus: Path, tmp_path: Path) -> None:
    with _spark() as target, _running(prometheus, tmp_path, target) as address:
        found = _query(address, '{__name__=~"kinesis_.*"}')
        labels = {
            series["metric"]["__name__"]: {
                name: value for name, value in series["metric"].items() if name not in ("__name__", "job", "instance")
            }
            for series in found
        }
        ours = {"app": "nightly_etl", "query": "my_etl", "type": "gauges"}
        of_driver = {**ours, "executor": "driver"}
        of_orders = {**of_driver, "stream": "new_orders"}
        assert labels == {
            "kinesis_source_outageMs": of_orders,
            "kinesis_source_expiresInMs": of_orders,
            "kinesis_source_msBehindLatest": {**of_orders, "shard": "shardId_000000000001"},
            "kinesis_source_bufferedBytes": of_driver,
            "kinesis_sink_recordsOut": {**ours, "executor": "7", "stream": "copies"},
        }
        alarms = _query(address, 'ALERTS{alertname="KinesisOutage", alertstate="firing"}')
        assert [alarm["metric"]["stream"] for alarm in alarms] == ["new_orders"]


@contextmanager
def _spark() -> Iterator[int]:
    """Serve the answer of Spark's servlet. Yields the port."""

    class Servlet(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/plain")
            self.end_headers()
            self.wfile.write(SCRAPED.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Servlet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def _running(prometheus: Path, folder: Path, target: int) -> Iterator[str]:
    """Run Prometheus with the documented configuration, for this target and with short intervals."""
    for rules in ("alerts.yml", "cost.yml"):
        shutil.copy(OPERATIONS / rules, folder)
    config = (OPERATIONS / "prometheus.yml").read_text()
    config = config.replace("127.0.0.1:4040", f"127.0.0.1:{target}").replace("_interval: 15s", "_interval: 1s")
    (folder / "prometheus.yml").write_text(config)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [
                prometheus / "prometheus",
                f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address={address}",
            ],
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            yield address
        finally:
            process.terminate()
            process.wait()


def _query(address: str, expression: str) -> list[dict[str, Any]]:
    """Return the series of an expression, as soon as there are some."""
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"http://{address}/api/v1/query?query={quote(expression)}") as answer:
                found: list[dict[str, Any]] = json.load(answer)["data"]["result"]
            if found:
                return found
        except OSError:
            pass  # Prometheus is starting.
        time.sleep(0.2)
    raise AssertionError(f"no series of {expression} within {DEADLINE} s")
