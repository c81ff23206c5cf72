"""A standalone Spark cluster on loopback that uses only the pyspark package."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path
from types import TracebackType

from programs import SPARK_HOME


class StandaloneCluster:
    """A master and its workers, started on entry and ended on exit."""

    def __init__(self, *, workers: int, cores: int, memory: str, folder: Path) -> None:
        self._workers = workers
        self._cores = cores
        self._memory = memory
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        self.address = ""

    def __enter__(self) -> StandaloneCluster:
        try:
            log = self._start("Master", "master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
            self.address = self._await(log, r"Starting Spark master at (spark://[0-9.]+:[0-9]+)", 1)
            for number in range(self._workers):
                work = self._folder / f"work-{number}"
                size = ("--cores", str(self._cores), "--memory", self._memory)
                place = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0", "--work-dir", str(work))
                self._start("Worker", f"worker-{number}", *size, *place, self.address)
            self._await(log, r"Registering worker", self._workers)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _start(self, role: str, name: str, *arguments: str) -> Path:
        log = self._folder / f"{name}.log"
        command = [
            str(SPARK_HOME / "bin" / "spark-class"),
            f"org.apache.spark.deploy.{role.lower()}.{role}",
            *arguments,
        ]
        environment = {**os.environ, "SPARK_HOME": str(SPARK_HOME), "SPARK_DAEMON_MEMORY": "512m"}
        with log.open("wb") as out:
            started = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=environment)
        self._processes.append(started)
        return log

    def _await(self, log: Path, line: str, times: int) -> str:
        end = time.monotonic() + 180
        while time.monotonic() < end:
            found = re.findall(line, log.read_text(errors="replace"))
            if len(found) >= times:
                return str(found[0])
            time.sleep(0.1)
        raise TimeoutError(f"{log} does not say {line!r} {times} times:\n{log.read_text(errors='replace')[-4000:]}")

    def _end(self) -> None:
        for process in reversed(self._processes):
            process.terminate()
        for process in self._processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
