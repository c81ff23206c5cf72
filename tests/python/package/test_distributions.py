"""Test the distributions that users install: the wheel, and the jar with --packages."""

from __future__ import annotations

import io
import os
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from programs import SPARK_HOME, program, run
from spark_kinesis import KinesisEmulator, __version__, jar_path

READ = """
import sys
from pyspark.sql import SparkSession
endpoint, stream = sys.argv[1:]
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
options = dict(streamName=stream, endpoint=endpoint, region="us-east-1", awsAccessKey="a", awsSecretKey="b")
print("rows:", spark.read.format("kinesis").options(**options).load().count())
"""

# The oldest and the newest version of Spark, with the jars for them. tests/versions/run tries the others.
# KINESIS_SPARK_LINES names the lines that a distribution has, if not all of them, for example 4_2.13.
LINES = {
    version: jar
    for line, version, jar in (
        ("3.5_2.12", "3.5.9", "spark-kinesis-3.5_2.12"),
        ("4_2.13", "4.3.0", "spark-kinesis_2.13"),
    )
    if line in os.environ.get("KINESIS_SPARK_LINES", line).split()
}


@pytest.fixture(scope="module")
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(len(LINES)) as threads:
        yield threads


@pytest.fixture(scope="module")
def sparks(pool: ThreadPoolExecutor, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Future[Path]]:
    """Install each version of pyspark into an environment of its own, while the wheel is built."""

    def install(version: str, folder: Path) -> Path:
        run([sys.executable, "-m", "venv", folder])
        python = folder / "bin" / "python"
        run([python, "-m", "pip", "install", "--quiet", f"pyspark=={version}", "pytest"], timeout=900)
        return python

    return {version: pool.submit(install, version, tmp_path_factory.mktemp(version)) for version in LINES}


@pytest.fixture(scope="module")
def built(sparks: dict[str, Future[Path]], root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run([sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, root / "python"], timeout=900)
    return folder


@pytest.fixture(scope="module")
def environments(built: Path, sparks: dict[str, Future[Path]]) -> dict[str, Path]:
    """Install the wheel beside each version of pyspark. Return the Pythons."""
    pythons = {version: installed.result() for version, installed in sparks.items()}
    for python in pythons.values():
        run([python, "-m", "pip", "install", "--quiet", "--no-index", next(built.glob("*.whl"))])
    return pythons


@pytest.fixture(scope="module")
def trials(pool: ThreadPoolExecutor, environments: dict[str, Path], root: Path) -> dict[str, Future[list[str]]]:
    """Run the main job, the smoke test, and a session with the jar for another Spark, with each version at once."""

    def attempt(version: str) -> list[str]:
        python = environments[version]
        other = next((name for line, name in LINES.items() if line != version), None)
        smoke = root / "tests" / "versions" / "smoke.py"
        commands: list[list[str | Path]] = [
            [root / "python" / "examples" / "quickstart.py", "--records", "20000"],
            [smoke],
        ]
        if other is not None:
            commands.append([smoke, "--wrong-jar", jar_path().parent / f"{other}-{__version__}.jar"])
        return [run([python, *command], PYSPARK_PYTHON=str(python)).stdout for command in commands]

    return {version: pool.submit(attempt, version) for version in LINES}


def test_wheel_and_source_distribution_hold_the_jars_and_the_licence(built: Path, root: Path) -> None:
    connectors = [f"{name}-{__version__}.jar" for name in LINES.values()]
    emulators = [name.replace("spark-kinesis", "spark-kinesis-emulator", 1) for name in connectors]
    jars = {f"spark_kinesis/jars/{name}" for name in connectors + emulators}
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        names = wheel.namelist()
        for name in jars:
            with zipfile.ZipFile(io.BytesIO(wheel.read(name))) as jar:
                classes = [entry for entry in jar.namelist() if entry.endswith(".class")]
            own = ("org/sparkkinesis/", "org/apache/spark/sparkkinesis/", "org/apache/spark/sql/sparkkinesis/")
            assert [entry for entry in classes if not entry.startswith(own)] == []
    assert {name for name in names if name.endswith(".jar")} == jars
    # The Python Package Index accepts 100 MB.
    assert next(built.glob("*.whl")).stat().st_size < 60_000_000
    assert "spark_kinesis/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    for name in ("LICENSE", "NOTICE"):
        assert (root / "python" / name).read_text() == (root / name).read_text()
    with tarfile.open(next(built.glob("*.tar.gz"))) as source:
        jars_of_source = {name.split("/src/")[-1] for name in source.getnames() if name.endswith(".jar")}
    assert jars_of_source == jars


@pytest.mark.parametrize("version", LINES)
def test_the_wheel_works_beside_this_version_of_spark(version: str, trials: dict[str, Future[list[str]]]) -> None:
    job, smoke, *wrong_jar = trials[version].result()
    assert "counts are right" in job
    assert f"Spark {version} with {LINES[version]}-{__version__}.jar: all passed" in smoke
    assert len(wrong_jar) == len(LINES) - 1
    assert all("KINESIS_JAR_OF_OTHER_SPARK" in said for said in wrong_jar)


def test_the_fixtures_of_the_wheel_serve_the_tests_of_a_job(environments: dict[str, Path], root: Path) -> None:
    tests = root / "python" / "examples" / "pipeline-with-tests"
    done = run([environments["4.3.0"], "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", tests, tests])
    assert "2 passed" in done.stdout


@pytest.mark.skipif(len(LINES) < 2, reason="KINESIS_SPARK_LINES names one line")
def test_checkpoints_go_from_one_line_of_spark_to_another_and_back(environments: dict[str, Path], root: Path) -> None:
    old, new = environments["3.5.9"], environments["4.3.0"]
    done = run([new, root / "tests" / "versions" / "handover.py", old, new, old])
    assert done.stdout.count("went on from the checkpoint") == 3


def test_the_client_of_spark_connect_needs_no_pyspark(built: Path, tmp_path: Path) -> None:
    run([sys.executable, "-m", "venv", tmp_path / "venv"])
    python = tmp_path / "venv" / "bin" / "python"
    run([python, "-m", "pip", "install", "--quiet", "--no-deps", next(built.glob("*.whl"))])
    listed = run([python, "-m", "pip", "list", "--format", "freeze"]).stdout
    assert "pyspark" not in listed
    text = (
        "import sys; from spark_kinesis import jar_path; print(*(jar_path(version).name for version in sys.argv[1:]))"
    )
    names = [f"{name}-{__version__}.jar" for name in LINES.values()]
    assert run([python, "-c", text, *LINES]).stdout.split() == names


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
