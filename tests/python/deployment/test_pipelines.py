"""Test the pipeline of docs/pipelines.md with spark-pipelines and the emulator."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from programs import SPARK_HOME, run
from spark_kinesis import KinesisEmulator, jar_path

pytest.importorskip("pyspark.pipelines", reason="Spark has declarative pipelines from 4.1 on")


@pytest.fixture
def project(root: Path, kinesis: KinesisEmulator, new_stream: Callable[..., str], tmp_path: Path) -> Path:
    """Write the files of the page, with streams of the emulator."""
    page = (root / "docs" / "pipelines.md").read_text()
    blocks = re.findall(r"^```\w+[^\n]*\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    place = f'endpoint="{kinesis.endpoint}", region="us-east-1", aws_access_key="a", aws_secret_key="b"'
    program = blocks[0].replace('region="eu-central-1"', place)
    for name in ("orders", "large-orders"):
        program = re.sub(rf'(Kinesis\w+)\("{name}"', rf'\1("{new_stream()}"', program)
    (tmp_path / "transformations").mkdir()
    (tmp_path / "transformations" / "orders.py").write_text(program)
    (tmp_path / "spark-pipeline.yml").write_text(blocks[1].replace("/var/lib/orders", str(tmp_path)))
    return tmp_path


def pipelines(project: Path, command: str) -> str:
    """Run spark-pipelines in the folder and return what it prints."""
    settings = {
        "spark.jars": jar_path(),
        "spark.ui.enabled": "false",
        "spark.sql.warehouse.dir": project / "warehouse",
    }
    conf = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
    spec = ("--spec", project / "spark-pipeline.yml")
    done = run([SPARK_HOME / "bin" / "spark-pipelines", command, *spec, *conf], PYSPARK_PYTHON=sys.executable)
    return done.stdout + done.stderr


def streams(project: Path) -> list[str]:
    return re.findall(r'Kinesis\w+\("(test-\d+)"', (project / "transformations" / "orders.py").read_text())


def put(kinesis: KinesisEmulator, stream: str, totals: range) -> None:
    kinesis.put_records(stream, [(f"key-{total}", f'{{"total": {total}}}') for total in totals])


def totals(kinesis: KinesisEmulator, stream: str) -> list[str]:
    return sorted(record.data.decode() for record in kinesis.records(stream))


def test_a_table_reads_a_stream_and_a_sink_writes_to_one(project: Path, kinesis: KinesisEmulator) -> None:
    orders, large = streams(project)
    put(kinesis, orders, range(98, 102))
    output = pipelines(project, "run")
    assert "ATTEMPT_ANALYSIS_IN_PIPELINE_QUERY_FUNCTION" not in output
    assert totals(kinesis, large) == ['{"total":100}', '{"total":101}']


def test_the_next_run_continues_where_the_last_one_ended(project: Path, kinesis: KinesisEmulator) -> None:
    file = project / "transformations" / "orders.py"
    # Without a table, because tables of the catalog in memory do not outlive a run.
    file.write_text(file.read_text().replace("@dp.table\n", "").replace('spark.readStream.table("orders")', "orders()"))
    orders, large = streams(project)
    for first in (100, 200):
        put(kinesis, orders, range(first, first + 2))
        pipelines(project, "run")
    assert totals(kinesis, large) == [f'{{"total":{total}}}' for total in (100, 101, 200, 201)]


def test_a_wrong_option_is_an_error_of_the_dry_run(project: Path) -> None:
    file = project / "transformations" / "orders.py"
    file.write_text(file.read_text().replace('"trim_horizon"', '"trim-horizon"'))
    with pytest.raises(AssertionError, match=r"KINESIS_OPTION_INVALID.*'initialPosition'.*Fix: "):
        pipelines(project, "dry-run")
