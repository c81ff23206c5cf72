"""Test that the session keeps every jar of spark-submit beside the connector's, and that the driver loads both."""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark import SparkContext

from programs import SPARK_HOME, program, run
from spark_kinesis import _submit, jar_path, session

PROGRAM = """
import json
from pyspark.sql import SparkSession
from spark_kinesis import KinesisSource, configure_spark_with_kinesis

spark = configure_spark_with_kinesis(SparkSession.builder.config("spark.ui.enabled", "false")).getOrCreate()
KinesisSource("orders", region="eu-central-1").read_stream(spark)
loader = spark._jvm.java.lang.Thread.currentThread().getContextClassLoader()
print(json.dumps({
    "tasks": sorted(spark.sparkContext._jsc.sc().listJars().mkString(",").split(",")),
    "driver": [name for name in ("one.txt", "two.txt") if loader.getResource(name) is not None],
    "methods": spark._jvm.org.sparkkinesis.KinesisQueries.stopGracefully is not None,
}))
spark.stop()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write two jars, a program, and the defaults of Spark, which name the second jar."""
    path = tmp_path_factory.mktemp("submit")
    for name in ("one", "two"):
        with zipfile.ZipFile(path / f"{name}.jar", "w") as jar:
            jar.writestr(f"{name}.txt", name)
    program(path, PROGRAM)
    (path / "spark-defaults.conf").write_text(f"# jars\nspark.jars={path}/two.jar\nspark.master local[1]\n")
    return path


@pytest.mark.parametrize(
    ("command", "arguments", "jar"),
    [
        ("spark-submit", ["--jars", "{one}"], "one"),
        ("spark-submit", ["--conf", "spark.jars={one}"], "one"),
        ("spark-submit", [], "two"),
        ("python", ["--jars", "{one}"], "one"),
        ("python", ["--conf", "spark.jars={one}"], "one"),
        ("python", [], "two"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_the_jars_of_a_submission_stay(command: str, arguments: Sequence[str], jar: str, folder: Path) -> None:
    words = [word.format(one=folder / "one.jar") for word in arguments]
    file = folder / "program.py"
    if command == "python":
        submit = " ".join([*words, "pyspark-shell"])
        done = run([sys.executable, file], SPARK_CONF_DIR=str(folder), PYSPARK_SUBMIT_ARGS=submit)
    else:
        done = run([SPARK_HOME / "bin" / "spark-submit", *words, file], SPARK_CONF_DIR=str(folder))
    said = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    assert [name.rsplit("/", 1)[-1] for name in said["tasks"]] == sorted([f"{jar}.jar", jar_path().name])
    assert said["driver"] == [f"{jar}.txt"]
    assert said["methods"]


@pytest.mark.parametrize(
    ("arguments", "jars", "changed"),
    [
        ("pyspark-shell", None, "pyspark-shell"),
        ("--jars a,b pyspark-shell", "a,b", "--jars NEW pyspark-shell"),
        ("--jars=a pyspark-shell", "a", "--jars NEW pyspark-shell"),
        ("--conf spark.jars=a -c spark.x=y pyspark-shell", "a", "--conf spark.jars=NEW -c spark.x=y pyspark-shell"),
        ("--conf=spark.jars=a pyspark-shell", "a", "--conf spark.jars=NEW pyspark-shell"),
        ("--jars a --conf spark.jars=b x", "a", "--jars NEW --conf spark.jars=NEW x"),
        ("--conf 'spark.x=a b' --jars 'c d' x", "c d", "--conf 'spark.x=a b' --jars NEW x"),
    ],
)
def test_the_arguments_of_a_submission(arguments: str, jars: str | None, changed: str) -> None:
    parsed = _submit._Arguments(arguments)
    assert parsed.value_of("spark.jars") == jars
    assert parsed.with_jars(["NEW"]) == changed


@pytest.mark.parametrize(
    ("text", "jars"),
    [
        ("spark.jars a.jar", "a.jar"),
        ("spark.jars=a.jar,b.jar", "a.jar,b.jar"),
        ("  spark.jars\t a.jar  \nspark.jars.packages x", "a.jar"),
        ("# spark.jars a.jar\nspark.jars.packages=x", None),
        ("spark.jars a.jar,\\\n  b.jar", "a.jar,  b.jar"),
        ("", None),
    ],
)
def test_the_properties_of_spark_defaults(text: str, jars: str | None, tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text(text)
    assert _submit._property(tmp_path / "spark-defaults.conf", "spark.jars") == jars
    assert _submit._property(tmp_path / "none.conf", "spark.jars") is None


CONNECTOR = "org.apache.spark.sparkkinesis.ConnectorExtensions"


@pytest.mark.parametrize(
    ("version", "options", "arguments", "defaults", "extensions"),
    [
        ("3.5.9", {}, "", "", CONNECTOR),
        ("3.5.6-amzn-0", {"spark.sql.extensions": "a.A, b.B"}, "", "", f"a.A,b.B,{CONNECTOR}"),
        ("3.5.9", {"spark.sql.extensions": f"a.A,{CONNECTOR},b.B"}, "", "", f"a.A,{CONNECTOR},b.B"),
        ("3.5.9", {}, "--conf spark.sql.extensions=a.A x", "spark.sql.extensions b.B", f"a.A,{CONNECTOR}"),
        ("3.5.9", {}, "--jars a.jar x", "spark.sql.extensions b.B", f"b.B,{CONNECTOR}"),
        # The builder's value is the one that Spark uses.
        ("3.5.9", {"spark.sql.extensions": "a.A"}, "--conf spark.sql.extensions=b.B x", "", f"a.A,{CONNECTOR}"),
        ("3.5.9", {"spark.remote": "sc://localhost"}, "", "", None),
        ("4.0.4", {"spark.sql.extensions": "a.A"}, "", "", None),
    ],
)
def test_a_session_of_spark_35_gets_the_extension_of_the_connector_beside_others(
    version: str,
    options: dict[str, str],
    arguments: str,
    defaults: str,
    extensions: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "spark-defaults.conf").write_text(defaults)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", arguments)
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    # The session of other tests in this process is not the one that is configured here.
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    monkeypatch.setattr(SparkContext, "_gateway", None)
    monkeypatch.setattr(session, "installed", lambda: (version, "2.12"))
    assert session._extensions(options) == extensions
