"""Builds the jars into the package with the project's sbt, when the sources of a checkout are newer than they are."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

PACKAGE = Path(__file__).parent / "src" / "spark_kinesis"
JARS = PACKAGE / "jars"
_SOURCES = (
    "build.sbt",
    "project/*.scala",
    "project/*.sbt",
    "project/build.properties",
    "project/licenses/**/*",
    "connector-scala/*/src/main/**/*",
    "python/src/spark_kinesis/_version.py",
    "LICENSE",
    "NOTICE",
)


def checkout() -> Path | None:
    """The project's folder, or None where this file came with a source distribution."""
    root = Path(__file__).resolve().parent.parent
    return root if (root / "sbt").is_file() and (root / "build.sbt").is_file() else None


# The line of the everyday build.
DEFAULT = "4_2.13"

COMMANDS = ("connector/assembly", "emulatorJar/assembly")

# The lines of Spark whose jars a distribution has, with the end of the names of their jars.
LINES = {"4_2.13": "_2.13", "3.5_2.12": "-3.5_2.12"}


def lines_of_distribution() -> list[str]:
    """The lines whose jars a distribution has: all, or those that KINESIS_SPARK_LINES names, separated by spaces."""
    return os.environ.get("KINESIS_SPARK_LINES", "").split() or list(LINES)


def jars(line: str) -> dict[str, Path]:
    """Where the jars for a line of Spark belong, by the folder of the project that builds each."""
    match = re.search(r'^__version__ = "([^"]+)"$', (PACKAGE / "_version.py").read_text(), re.MULTILINE)
    if match is None:
        raise SystemExit("build_jar: _version.py holds no line of the form: __version__ = ...")
    names = {"connector": "spark-kinesis", "emulator-jar": "spark-kinesis-emulator"}
    return {project: JARS / f"{name}{LINES[line]}-{match.group(1)}.jar" for project, name in names.items()}


def digest_of_sources(root: Path) -> str:
    """Changes with every file that the jars are made from, and with nothing else."""
    sha = hashlib.sha256()
    for file in sorted({file for pattern in _SOURCES for file in root.glob(pattern) if file.is_file()}):
        sha.update(str(file.relative_to(root)).encode() + b"\0" + file.read_bytes() + b"\0")
    return sha.hexdigest()


def ensure_jars(lines: Sequence[str]) -> str:
    """Build the jars for these lines if one is missing or older than the sources; says what was done."""
    return "; ".join(_ensure(line) for line in lines)


def _ensure(line: str) -> str:
    root = checkout()
    missing = [jar for jar in jars(line).values() if not jar.is_file()]
    if root is None:
        if missing:
            raise SystemExit(f"build_jar: {missing[0]} is missing, and there are no sources to build it from")
        return f"the jars for Spark {line} came with the distribution"
    digest = digest_of_sources(root)
    stamp = JARS / f".sources-{line}.sha256"
    if not missing and stamp.is_file() and stamp.read_text() == digest:
        return f"the jars for Spark {line} are up to date"
    environment = {**os.environ, "VIRTUAL_ENV": os.environ.get("VIRTUAL_ENV", sys.prefix)}
    command = ["./sbt", *([] if line == DEFAULT else [f"-Dspark.line={line}"]), *COMMANDS]
    subprocess.run(command, cwd=root, env=environment, check=True)
    JARS.mkdir(exist_ok=True)
    for old in JARS.glob(f"spark-kinesis*{LINES[line]}-*.jar"):
        # The names for Spark 3.5 have a number before those of Scala.
        if line != DEFAULT or "-3.5_" not in old.name:
            old.unlink()
    target = Path("target") if line == DEFAULT else Path("target") / f"spark-{line}"
    for project, jar in jars(line).items():
        shutil.copyfile(root / "connector-scala" / project / target / jar.name, jar)
    stamp.write_text(digest)
    return f"built {', '.join(jar.name for jar in jars(line).values())}"


if __name__ == "__main__":
    print(ensure_jars(list(LINES) if sys.argv[1:] == ["all"] else sys.argv[1:] or [DEFAULT]))
