"""A Kinesis emulator on this machine, in a separate JVM. The connector's own tests use it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from queue import Empty, SimpleQueue
from tempfile import TemporaryFile
from threading import Thread
from types import TracebackType
from typing import IO, Any

from spark_kinesis.emulator.client import KinesisClient, Record, ServiceError
from spark_kinesis.emulator.control import Calls, EmulatorControl
from spark_kinesis.emulator.java import java_command
from spark_kinesis.errors import KinesisConnectorError

__all__ = ["Calls", "EmulatorControl", "KinesisClient", "KinesisEmulator", "Record", "ServiceError"]


class KinesisEmulator:
    """An emulator on a loopback port, from ``start`` (or ``with``) to ``stop``, or to the end of this process.

    It enforces the service's quotas unless ``quotas`` is False. ``port`` 0 chooses a free port.
    """

    def __init__(
        self,
        port: int = 0,
        *,
        quotas: bool = True,
        accounts: Sequence[str] = (),
        heap: str = "1g",
        arguments: Sequence[str] = (),
        timeout: float = 60,
    ) -> None:
        """``heap`` limits the JVM's memory, ``arguments`` go to the emulator, ``timeout`` limits the start.

        With ``accounts``, the emulator serves these accounts in every region. The access key of an account is its
        number, and requests must be signed. The first account is the one of ``client`` and ``connection``.
        """
        self._port = port
        self._quotas = quotas
        self._accounts = list(accounts)
        self._heap = heap
        self._arguments = list(arguments)
        self._timeout = timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None
        self._started: dict[str, Any] = {}
        self._client: KinesisClient | None = None

    def start(self) -> KinesisEmulator:
        """Start the JVM and wait until it accepts connections."""
        if self._process is not None:
            return self
        command = java_command(self._heap, self._main_arguments())
        self._log = TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, start_new_session=True
        )
        try:
            self._started = self._first_line()
            self._client = KinesisClient(self.endpoint, account=self._accounts[0] if self._accounts else None)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stop the JVM, which ends when its standard input is closed."""
        if self._client is not None:
            self._client.close()
        process, self._process, self._client = self._process, None, None
        if process is not None:
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._log is not None:
            self._log.close()
            self._log = None

    def __enter__(self) -> KinesisEmulator:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def endpoint(self) -> str:
        """Return the address, ``http://127.0.0.1:port``."""
        return str(self._started["endpoint"])

    @property
    def pid(self) -> int:
        """Return the process id of the JVM."""
        if self._process is None:
            raise self._failure("is not running", "It was not started, or was stopped.")
        return self._process.pid

    @property
    def connection(self) -> Mapping[str, str]:
        """Return the options that connect a source or a sink to the emulator."""
        return {
            "endpoint": self.endpoint,
            "region": "us-east-1",
            "awsAccessKey": self._accounts[0] if self._accounts else "emulator",
            "awsSecretKey": "emulator",
        }

    @property
    def metadata_url(self) -> str:
        """Return the address of the page whose document ``control.set_metadata`` sets."""
        return f"{self.endpoint}/metadata/streams"

    def client_of(self, account: str, region: str = "us-east-1") -> KinesisClient:
        """Return a new client for one of the ``accounts`` in a region. The caller closes it."""
        if account not in self._accounts:
            raise ValueError(f"The emulator serves the accounts {self._accounts}, but not {account}.")
        return KinesisClient(self.endpoint, account=account, region=region)

    @property
    def client(self) -> KinesisClient:
        """Return a client that calls every operation by name."""
        if self._client is None:
            raise self._failure("is not running", "It was not started, or was stopped.")
        return self._client

    def set_policy(self, *policies: Mapping[str, Any] | str, role: str | None = None) -> None:
        """Let the key of ``connection``, or a role by its ARN, do only what these IAM policies allow.

        Without a policy, it may do everything again.
        """
        self.control.set_policies(role or self.connection["awsAccessKey"], policies)

    @property
    def control(self) -> EmulatorControl:
        """Return the control of faults, clock and quotas, with the counts of the calls."""
        return EmulatorControl(self.endpoint, self._started.get("adminToken"))

    def create_stream(self, name: str, shards: int = 1) -> None:
        """Create a stream and wait until it is ACTIVE."""
        self.client.create_stream(name, shards)

    def put_records(self, stream: str, records: Iterable[tuple[str, bytes | str]]) -> int:
        """Put ``(partition key, data)`` pairs and return their number. Throttled records are sent again."""
        return self.client.put_records(stream, records)

    def records(self, stream: str) -> list[Record]:
        """Return every record that is in the stream now."""
        return list(self.client.records(stream))

    def _main_arguments(self) -> list[str]:
        quotas = [] if self._quotas else ["--quotas", "off"]
        accounts = ["--accounts", ",".join(self._accounts)] if self._accounts else []
        return ["--stdin-bound", "--port", str(self._port), *quotas, *accounts, *self._arguments]

    def _first_line(self) -> dict[str, Any]:
        """Return the JSON line that the emulator prints when it is ready. A thread reads it to allow a timeout."""
        process = self._process
        if process is None or process.stdout is None:
            raise self._failure("is not running", "It was stopped while it started.")
        output = process.stdout
        lines: SimpleQueue[bytes] = SimpleQueue()
        Thread(target=lambda: lines.put(output.readline()), name="emulator-start", daemon=True).start()
        try:
            line = lines.get(timeout=self._timeout)
        except Empty:
            raise self._failure("did not start", f"It was not ready within {self._timeout} s. {self._said()}") from None
        if not line:
            raise self._failure("did not start", f"Its JVM ended with code {process.wait()}. {self._said()}")
        started: dict[str, Any] = json.loads(line)
        return started

    def _said(self) -> str:
        if self._log is None:
            return ""
        self._log.seek(0)
        text = self._log.read().decode(errors="replace").strip()
        return f"It printed: {text[:2000]}" if text else "It printed nothing."

    @staticmethod
    def _failure(what: str, reason: str) -> KinesisConnectorError:
        fix = "Install Java 17 or newer, make sure that the port is free, and start the emulator again."
        return KinesisConnectorError.of("KINESIS_EMULATOR_FAILED", what=what, reason=reason, fix=fix)
