"""Builds the jar into the package with the project's sbt, when the sources of a checkout are newer than it."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parent / "src" / "spark_kinesis"
JARS = PACKAGE / "jars"
_STAMP = JARS / ".sources.sha256"
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


def jar() -> Path:
    """Where the jar belongs."""
    match = re.search(r'^__version__ = "([^"]+)"$', (PACKAGE / "_version.py").read_text(), re.MULTILINE)
    if match is None:
        raise SystemExit("build_jar: _version.py holds no line of the form: __version__ = ...")
    return JARS / f"spark-kinesis_2.13-{match.group(1)}.jar"


def digest_of_sources(root: Path) -> str:
    """Changes with every file that the jar is made from, and with nothing else."""
    sha = hashlib.sha256()
    for file in sorted({file for pattern in _SOURCES for file in root.glob(pattern) if file.is_file()}):
        sha.update(str(file.relative_to(root)).encode() + b"\0" + file.read_bytes() + b"\0")
    return sha.hexdigest()


def ensure_jar() -> str:
    """Build the jar if it is missing or older than the sources; says what was done."""
    root = checkout()
    if root is None:
        if not jar().is_file():
            raise SystemExit(f"build_jar: {jar()} is missing, and there are no sources to build it from")
        return "the jar came with the distribution"
    digest = digest_of_sources(root)
    if jar().is_file() and _STAMP.is_file() and _STAMP.read_text() == digest:
        return "the jar is up to date"
    environment = {**os.environ, "VIRTUAL_ENV": os.environ.get("VIRTUAL_ENV", sys.prefix)}
    subprocess.run(["./sbt", "connector/assembly"], cwd=root, env=environment, check=True)
    JARS.mkdir(exist_ok=True)
    for old in JARS.glob("*.jar"):
        old.unlink()
    shutil.copyfile(root / "connector-scala" / "connector" / "target" / jar().name, jar())
    _STAMP.write_text(digest)
    return f"built {jar().relative_to(root)}"


if __name__ == "__main__":
    print(ensure_jar())
