"""The line of Spark that this process uses, by which the package selects one of its jars."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path

_SPARK_CORE = re.compile(r"spark-core_(\d+\.\d+)-(\d+(?:\.\d+)+)\b.*\.jar")

# The ends of the names of the jars, by the first numbers of Spark's version and by Scala's.
_ENDINGS = {("3.5", "2.12"): "-3.5_2.12", ("3.5", "2.13"): "-3.5_2.13", ("4", "2.13"): "_2.13"}


def ending(spark_version: str | None = None) -> str:
    """Return the end of the names of the jars for a version of Spark, or for the Spark that this process uses.

    A version of Spark alone does not say which Scala it is built with: that of the packages on PyPI is assumed.
    """
    if spark_version is None:
        version, scala = installed()
    else:
        version, scala = spark_version, "2.12" if spark_version.startswith("3.") else "2.13"
    line = "4" if version.startswith("4.") else ".".join(version.split(".")[:2])
    return _ENDINGS.get((line, scala), f"-{line}_{scala}")


def installed() -> tuple[str, str]:
    """Return the versions of Spark and Scala of ``SPARK_HOME``, or of the package pyspark, or else of Spark 4.

    Vendors append their own version to Spark's, for example ``3.5.6-amzn-0``.
    """
    for home in _homes():
        for jar in sorted((home / "jars").glob("spark-core_*.jar")):
            found = _SPARK_CORE.fullmatch(jar.name)
            if found is not None:
                return found.group(2), found.group(1)
    # The client of Spark Connect has no jars. The server's version decides when a session exists.
    return "4", "2.13"


def _homes() -> list[Path]:
    home = os.environ.get("SPARK_HOME")
    found = importlib.util.find_spec("pyspark")
    package = Path(found.origin).parent if found is not None and found.origin is not None else None
    return [folder for folder in (Path(home) if home else None, package) if folder is not None]
