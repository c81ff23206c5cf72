"""A Spark Connect server in a process of its own, without the connector's jar."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from typing_extensions import Self

from programs import SPARK_HOME


class ConnectServer:
    """Runs while the ``with`` statement does. ``folder`` gets its log, ``connect.log``."""

    def __init__(self, master: str, folder: Path, settings: Sequence[str]) -> None:
        self._log = folder / "connect.log"
        main = ("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal")
        port = ("--conf", "spark.connect.grpc.binding.port=0")
        submit = str(SPARK_HOME / "bin" / "spark-submit")
        self._command = [submit, "--master", master, "--driver-memory", "1g", *settings, *port, *main]

    def __enter__(self) -> Self:
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_"))}
        environment["SPARK_LOCAL_IP"] = "127.0.0.1"
        with self._log.open("wb") as out:
            self._process = subprocess.Popen(self._command, stdout=out, stderr=subprocess.STDOUT, env=environment)
        try:
            self.address = f"sc://127.0.0.1:{self._port()}"
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def jcmd(self, command: str) -> str:
        """Return what a diagnostic command says about the server's JVM."""
        java = Path(f"/proc/{self._process.pid}/exe").resolve()
        parts = [str(java.parent / "jcmd"), str(self._process.pid), command]
        return subprocess.run(parts, capture_output=True, text=True, check=True, timeout=60).stdout

    def threads(self) -> set[str]:
        """Return the names of the JVM's threads."""
        return set(re.findall(r'^"([^"]+)"', self.jcmd("Thread.print"), re.MULTILINE))

    def instances(self, class_name: str) -> int:
        """Return the number of reachable instances of a class, of all class loaders."""
        rows = re.findall(
            rf" (\d+) +\d+ +{re.escape(class_name)}(?: |$)", self.jcmd("GC.class_histogram"), re.MULTILINE
        )
        return sum(map(int, rows))

    def _port(self) -> str:
        end = time.monotonic() + 120
        while True:
            said = self._log.read_text(errors="replace")
            assert self._process.poll() is None, said[-4000:]
            assert time.monotonic() < end, said[-4000:]
            _, _, after = said.partition("Spark Connect server started at: ")
            if "\n" in after:
                return after.splitlines()[0].rsplit(":", 1)[-1]
            time.sleep(0.1)

    def _end(self) -> None:
        self._process.terminate()
        self._process.wait(60)
