"""Test the distributions that users install: the wheel, and the jar with --packages."""

from __future__ import annotations

import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from programs import SPARK_HOME, program, run
from spark_kinesis import KinesisEmulator, __version__, jar_path
from spark_kinesis.emulator.java import emulator_jar

READ = """
import sys
from pyspark.sql import SparkSession
endpoint, stream = sys.argv[1:]
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
options = dict(streamName=stream, endpoint=endpoint, region="us-east-1", awsAccessKey="a", awsSecretKey="b")
print("rows:", spark.read.format("kinesis").options(**options).load().count())
"""

READ_FROM_THE_WHEEL = """
from pyspark.sql import SparkSession
from spark_kinesis import KinesisEmulator, KinesisSource, configure_spark_with_kinesis, jar_path
print("from", jar_path())
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
with KinesisEmulator() as kinesis:
    kinesis.create_stream("orders")
    kinesis.put_records("orders", [("k", "v")] * 7)
    spark = configure_spark_with_kinesis(builder).getOrCreate()
    print("rows:", KinesisSource("orders").on_emulator(kinesis).read(spark).count())
    spark.stop()
"""


@pytest.fixture(scope="module")
def built(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run([sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, root / "python"], timeout=600)
    return folder


def test_wheel_and_source_distribution_hold_the_jars_and_the_licence(built: Path, root: Path) -> None:
    jars = {f"spark_kinesis/jars/{jar.name}" for jar in (jar_path(), emulator_jar())}
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        names = wheel.namelist()
    assert {name for name in names if name.endswith(".jar")} == jars
    assert "spark_kinesis/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    for name in ("LICENSE", "NOTICE"):
        assert (root / "python" / name).read_text() == (root / name).read_text()
    with tarfile.open(next(built.glob("*.tar.gz"))) as source:
        jars_of_source = {name.split("/src/")[-1] for name in source.getnames() if name.endswith(".jar")}
    assert jars_of_source == jars


def test_the_wheel_works_in_a_fresh_virtual_environment(built: Path, root: Path, tmp_path: Path) -> None:
    run([sys.executable, "-m", "venv", tmp_path / "venv"])
    python = tmp_path / "venv" / "bin" / "python"
    pip: list[str | Path] = [python, "-m", "pip", "install", "--quiet"]
    for requirements in ("requirements-build.txt", "requirements.txt"):
        file = root / "python" / requirements
        run([*pip, "--require-hashes", "--no-build-isolation", "--requirement", file], timeout=600)
    # The dependencies of the wheel are installed by now, so pip has nothing else to install.
    run([*pip, "--no-index", next(built.glob("*.whl"))])
    done = run([python, program(tmp_path, READ_FROM_THE_WHEEL)])
    assert f"from {tmp_path}/venv/" in done.stdout
    assert "rows: 7" in done.stdout


def test_packages_installs_only_the_jar_from_a_repository_on_disk(
    root: Path, kinesis: KinesisEmulator, new_stream: Callable[..., str], tmp_path: Path
) -> None:
    stream = new_stream()
    kinesis.put_records(stream, [("k", "v")] * 5)
    run([root / "sbt", f"-DpublishTo={tmp_path}/repository", "connector/publish"], VIRTUAL_ENV=sys.prefix, timeout=600)
    done = run(
        [
            *(SPARK_HOME / "bin" / "spark-submit", "--conf", f"spark.jars.ivy={tmp_path}/ivy"),
            *("--repositories", f"file:{tmp_path}/repository"),
            *("--packages", f"org.sparkkinesis:spark-kinesis_2.13:{__version__}"),
            *(program(tmp_path, READ), kinesis.endpoint, stream),
        ]
    )
    assert "rows: 5" in done.stdout
    assert [jar.name for jar in (tmp_path / "ivy" / "jars").iterdir()] == [
        f"org.sparkkinesis_spark-kinesis_2.13-{__version__}.jar"
    ]
