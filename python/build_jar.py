"""Builds the jars into the package with the project's sbt, when the sources of a checkout are newer than they are."""

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


def jars() -> dict[str, Path]:
    """Where the jars belong, by the project that builds each."""
    match = re.search(r'^__version__ = "([^"]+)"$', (PACKAGE / "_version.py").read_text(), re.MULTILINE)
    if match is None:
        raise SystemExit("build_jar: _version.py holds no line of the form: __version__ = ...")
    names = {"connector": "spark-kinesis", "emulator-jar": "spark-kinesis-emulator"}
    return {project: JARS / f"{name}_2.13-{match.group(1)}.jar" for project, name in names.items()}


def digest_of_sources(root: Path) -> str:
    """Changes with every file that the jars are made from, and with nothing else."""
    sha = hashlib.sha256()
    for file in sorted({file for pattern in _SOURCES for file in root.glob(pattern) if file.is_file()}):
        sha.update(str(file.relative_to(root)).encode() + b"\0" + file.read_bytes() + b"\0")
    return sha.hexdigest()


def ensure_jars() -> str:
    """Build the jars if one is missing or older than the sources; says what was done."""
    root = checkout()
    missing = [jar for jar in jars().values() if not jar.is_file()]
    if root is None:
        if missing:
            raise SystemExit(f"build_jar: {missing[0]} is missing, and there are no sources to build it from")
        return "the jars came with the distribution"
    digest = digest_of_sources(root)
    if not missing and _STAMP.is_file() and _STAMP.read_text() == digest:
        return "the jars are up to date"
    environment = {**os.environ, "VIRTUAL_ENV": os.environ.get("VIRTUAL_ENV", sys.prefix)}
    subprocess.run(["./sbt", "connector/assembly", "emulatorJar/assembly"], cwd=root, env=environment, check=True)
    JARS.mkdir(exist_ok=True)
    for old in JARS.glob("*.jar"):
        old.unlink()
    for project, jar in jars().items():
        shutil.copyfile(root / "connector-scala" / project / "target" / jar.name, jar)
    _STAMP.write_text(digest)
    return f"built {', '.join(jar.name for jar in jars().values())}"


if __name__ == "__main__":
    print(ensure_jars())
