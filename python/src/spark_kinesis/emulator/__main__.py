"""``python -m spark_kinesis.emulator``: runs the emulator until this process ends.

One JSON line with its ``endpoint`` tells that it is ready. Every argument goes to the emulator's main.
"""

from __future__ import annotations

import subprocess
import sys

from spark_kinesis.emulator.java import java_command
from spark_kinesis.errors import KinesisConnectorError


def main() -> int:
    """The JVM has the terminal to itself; it ends when standard input does, or on a signal."""
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
