"""One emulator, in a process of its own, for the clients of other projects.

From the package's jar (`./dev test python` builds it), or from the class path in `EMULATOR_CLASSPATH`. By hand:
`python -m pytest tests/interop`, with boto3 and, for the command line's part, awscli installed.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    class_path = os.environ.get("EMULATOR_CLASSPATH")
    if not class_path:
        from spark_kinesis.emulator import KinesisEmulator

        with KinesisEmulator() as emulator:
            yield emulator.endpoint
        return
    command = ["java", "-Xmx512m", "-cp", class_path, "org.sparkkinesis.emulator.EmulatorMain", "--stdin-bound"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        yield json.loads(process.stdout.readline())["endpoint"]
        process.stdin.close()
        assert process.wait(timeout=20) == 0


@pytest.fixture(scope="session")
def called() -> set[str]:
    return set()
