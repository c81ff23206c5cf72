"""Run programs in separate processes, because they must not share this process's Spark session."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pyspark

SPARK_HOME = Path(pyspark.__file__).parent

# A log4j2 configuration with every level, to the file of the system property trace.file.
TRACE_TO_FILE = """
rootLogger.level = trace
rootLogger.appenderRef.file.ref = file
appender.file.type = File
appender.file.name = file
appender.file.fileName = ${sys:trace.file}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %p %c %X %m%n%throwable
"""


def run(command: Sequence[str | Path], *, timeout: float = 600, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end. The error of a failed command contains its output."""
    full = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_"))}
    full |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable, **environment}
    parts = [str(part) for part in command]
    done = subprocess.run(parts, capture_output=True, text=True, timeout=timeout, env=full, check=False)
    assert done.returncode == 0, f"{' '.join(parts)}\n{done.stdout}\n{done.stderr[-8000:]}"
    return done


def program(folder: Path, text: str) -> Path:
    """Write the text to a file and return its path."""
    file = folder / "program.py"
    file.write_text(text)
    return file
