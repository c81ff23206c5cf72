"""The command that starts the emulator's JVM, with the emulator's jar and the jars of Spark that it needs."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from spark_kinesis.errors import KinesisConnectorError
from spark_kinesis.session import packaged_jar

MAIN = "org.sparkkinesis.emulator.EmulatorMain"

_SPARK_JARS = (
    "scala-library-2.1*.jar",
    "slf4j-api-*.jar",
    "log4j-slf4j2-impl-*.jar",
    "log4j-api-*.jar",
    "log4j-core-*.jar",
)


def java_command(heap: str, arguments: Sequence[str]) -> list[str]:
    """Return the command that runs the emulator with these arguments."""
    classes = os.pathsep.join(str(jar) for jar in (emulator_jar(), *_spark_jars()))
    return [_java(), f"-Xmx{heap}", "-XX:+ExitOnOutOfMemoryError", "-cp", classes, MAIN, *arguments]


def emulator_jar() -> Path:
    """Return the jar of the emulator, which no session of Spark needs."""
    return packaged_jar("spark-kinesis-emulator")


def _java() -> str:
    home = os.environ.get("JAVA_HOME") or None
    java = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    if java is None:
        raise KinesisConnectorError.of(
            "KINESIS_EMULATOR_FAILED",
            what="needs Java",
            reason=f"There is no java in JAVA_HOME ({home})." if home else "There is no java on the PATH.",
            fix="Install Java 17 or newer, or set JAVA_HOME to its directory.",
        )
    return java


def _spark_jars() -> list[Path]:
    home = os.environ.get("SPARK_HOME") or None
    if home is None:
        found = importlib.util.find_spec("pyspark")
        home = str(Path(found.origin).parent) if found is not None and found.origin is not None else "."
    folder = Path(home) / "jars"
    jars = [jar for pattern in _SPARK_JARS for jar in sorted(folder.glob(pattern))]
    if not any(jar.name.startswith("scala-library") for jar in jars):
        raise KinesisConnectorError.of(
            "KINESIS_EMULATOR_FAILED",
            what="needs the Scala library of Spark",
            reason=f"There is no scala-library in {folder}.",
            fix="Install pyspark, or set SPARK_HOME to an installation of Spark.",
        )
    return jars
