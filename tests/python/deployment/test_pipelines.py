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


def pipelines(project: Path, command: str, *conf: str) -> str:
    """Run spark-pipelines in the folder with its spark-defaults.conf and return what it prints."""
    words: list[str | Path] = [SPARK_HOME / "bin" / "spark-pipelines", command]
    words += ["--spec", project / "spark-pipeline.yml", *(word for one in conf for word in ("--conf", one))]
    done = run(words, PYSPARK_PYTHON=sys.executable, SPARK_CONF_DIR=str(project))
    return done.stdout + done.stderr


def defaults(project: Path, settings: dict[str, object]) -> None:
    """Write the spark-defaults.conf of the folder."""
    common = {"spark.ui.enabled": "false", "spark.sql.warehouse.dir": project / "warehouse"}
    lines = [f"{key} {value}\n" for key, value in (common | settings).items()]
    (project / "spark-defaults.conf").write_text("".join(lines))


def streams(project: Path) -> list[str]:
    return re.findall(r'Kinesis\w+\("(test-\d+)"', (project / "transformations" / "orders.py").read_text())


def put(kinesis: KinesisEmulator, stream: str, totals: range) -> None:
    kinesis.put_records(stream, [(f"key-{total}", f'{{"total": {total}}}') for total in totals])


def totals(kinesis: KinesisEmulator, stream: str) -> list[str]:
    return sorted(record.data.decode() for record in kinesis.records(stream))


def test_a_table_reads_a_stream_and_a_sink_writes_to_one(project: Path, kinesis: KinesisEmulator) -> None:
    orders, large = streams(project)
    put(kinesis, orders, range(98, 102))
    defaults(project, {})
    output = pipelines(project, "run", f"spark.jars={jar_path()}")
    assert "ATTEMPT_ANALYSIS_IN_PIPELINE_QUERY_FUNCTION" not in output
    assert totals(kinesis, large) == ['{"total":100}', '{"total":101}']


def test_the_next_run_continues_where_the_last_one_ended_with_a_hive_metastore(
    project: Path, kinesis: KinesisEmulator
) -> None:
    # More properties than spark-pipelines passes on: see the page.
    others = {f"spark.other.property{number}": str(number) for number in range(10)}
    hive = {
        "spark.jars": jar_path(),
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={project}/metastore;create=true",
    }
    defaults(project, hive | others)
    orders, large = streams(project)
    for first in (100, 200):
        put(kinesis, orders, range(first, first + 2))
        pipelines(project, "run")
    assert totals(kinesis, large) == [f'{{"total":{total}}}' for total in (100, 101, 200, 201)]
    assert (project / "metastore").is_dir()


def test_a_wrong_option_is_an_error_of_the_dry_run(project: Path) -> None:
    file = project / "transformations" / "orders.py"
    file.write_text(file.read_text().replace('"trim_horizon"', '"trim-horizon"'))
    defaults(project, {"spark.jars": jar_path()})
    with pytest.raises(AssertionError, match=r"KINESIS_OPTION_INVALID.*'initialPosition'.*Fix: "):
        pipelines(project, "dry-run")
