"""Run the emulator until this process ends: ``python -m spark_kinesis.emulator``.

The emulator prints one line of JSON with its ``endpoint`` when it is ready. It receives all arguments.
"""

from __future__ import annotations

import subprocess
import sys

from spark_kinesis.emulator.java import java_command
from spark_kinesis.errors import KinesisConnectorError


def main() -> int:
    """Start the JVM and wait for it. It ends with this process, or when it receives a signal."""
    try:
        process = subprocess.Popen(java_command("2g", ["--stdin-bound", *sys.argv[1:]]), stdin=subprocess.PIPE)
    except KinesisConnectorError as error:
        print(error, file=sys.stderr)
        return 2
    try:
        return process.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


if __name__ == "__main__":
    sys.exit(main())
