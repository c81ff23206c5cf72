"""The versions that the pages name are those of the build and of the package."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from spark_kinesis import KinesisConnectorError, _line, jar_path

ROW = re.compile(
    r"^\| ([\d.]+)(?: to ([\d.]+))? \| ([\d.]+) \| `org\.sparkkinesis:spark-kinesis(\S+)` \| (yes|no) \|$", re.M
)


def test_the_pages_have_one_table_of_versions_which_is_that_of_the_package(root: Path) -> None:
    readme, platforms = (ROW.findall((root / page).read_text()) for page in ("README.md", "docs/platforms/README.md"))
    assert readme == platforms
    assert len(readme) == 3
    for first, last, scala, ending, real_time in readme:
        for version in (first, last or first):
            assert _line.ending(f"{version}.1") == ending, version
            assert (scala, real_time) == (ending.rsplit("_")[1], "yes" if version > "4.0" else "no")


def test_the_build_has_the_lines_of_the_package(root: Path) -> None:
    sys.path.insert(0, str(root / "python"))
    import build_jar

    build = (root / "project" / "SparkLine.scala").read_text()
    endings = {_line.ending("4.2.0"), _line.ending("3.5.9")}
    assert endings == set(build_jar.LINES.values())
    for line in build_jar.LINES:
        assert f'SparkLine("{line}"' in build


@pytest.mark.parametrize(
    ("jar", "ending"),
    [
        ("spark-core_2.12-3.5.6-amzn-0.jar", "-3.5_2.12"),
        ("spark-core_2.13-3.5.9.jar", "-3.5_2.13"),
        ("spark-core_2.13-4.0.5.jar", "_2.13"),
        ("spark-core_2.12-3.4.1.jar", "-3.4_2.12"),
    ],
)
def test_the_jars_of_spark_home_decide(jar: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / jar).touch()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    assert _line.ending() == ending


def test_a_spark_without_a_jar_is_an_error_that_names_the_jars() -> None:
    with pytest.raises(
        KinesisConnectorError, match=r"spark-kinesis-3\.4_2\.12-.*it has: .*spark-kinesis_2\.13-"
    ) as raised:
        jar_path("3.4.1")
    assert raised.value.condition == "KINESIS_JAR_MISSING"
