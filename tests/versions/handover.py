"""handover.py PYTHON…: runs of one query, each with the Spark of the next Python, go on from the same checkpoint.

Each run reads the records since the last one, and every record is in the files once.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import smoke

from spark_kinesis import KinesisEmulator

with KinesisEmulator(quotas=False) as kinesis, tempfile.TemporaryDirectory() as folder:
    kinesis.create_stream("handed", 2)
    for turn, python in enumerate(sys.argv[1:]):
        smoke.put(kinesis, "handed", range(100 * turn, 100 * (turn + 1)))
        if turn == 1:
            smoke.split(kinesis, "handed")
        subprocess.run([python, smoke.QUERY, kinesis.endpoint, "handed", folder, "1000"], check=True)
        assert smoke.results(Path(folder)) == smoke.expected(range(100 * (turn + 1)))
        print(f"{python}: went on from the checkpoint of the run before", flush=True)
