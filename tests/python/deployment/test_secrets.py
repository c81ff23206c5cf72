"""Test that the log of a query contains no secret at any log level.

The test needs the jar, because its build silences the loggers of the libraries in it.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.request import Request, urlopen

import pytest

from programs import TRACE_TO_FILE, program, run
from spark_kinesis import KinesisEmulator

SECRET = "planted-secret-of-the-access-key"
TOKEN = "planted-session-token"
SIGNATURES = ("AWS4-HMAC-SHA256", "X-Amz-Security-Token: ", "Signature=")

PROGRAM = """
import json, sys
from pyspark.sql import SparkSession
from spark_kinesis import configure_spark_with_kinesis

read, written, settings, log, checkpoint, options, mode = *sys.argv[1:6], *map(json.loads, sys.argv[6:])
java = f"-Dlog4j2.configurationFile=file:{settings} -Dtrace.file={log}"
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
spark = configure_spark_with_kinesis(builder.config("spark.driver.extraJavaOptions", java)).getOrCreate()
source = spark.readStream.format("kinesis").options(**options, **mode, streamName=read)
rows = source.option("initialPosition", "trim_horizon").load().selectExpr("partitionKey", "data")
writer = rows.writeStream.format("kinesis").options(**options, streamName=written)
query = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
query.awaitTermination()
assert query.exception() is None, query.exception()
print("rows:", spark.read.format("kinesis").options(**options, streamName=written).load().count())
spark.stop()
"""


class TokenService:
    """Forwards requests to the emulator's Security Token Service, and records the secrets that it issues."""

    def __init__(self, endpoint: str) -> None:
        self.secrets: list[str] = []
        secrets = self.secrets

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with urlopen(Request(endpoint, body, dict(self.headers.items()))) as answer:
                    content = answer.read()
                secrets.extend(re.findall(r"<(?:SecretAccessKey|SessionToken)>([^<]+)<", content.decode()))
                self.send_response(200)
                self.send_header("Content-Type", "text/xml")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *arguments: object) -> None:
                """Keep the output of the tests free of requests."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.endpoint = f"http://127.0.0.1:{self._server.server_address[1]}"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def tokens(kinesis: KinesisEmulator) -> Iterator[TokenService]:
    service = TokenService(kinesis.endpoint)
    yield service
    service.close()


@pytest.mark.parametrize(
    ("mode", "takes_role"),
    [({"consumerMode": "polling"}, False), ({"consumerMode": "efo", "consumerName": "reader"}, True)],
    ids=["polling with a session token", "fan-out with an assumed role"],
)
def test_the_log_of_a_query_at_trace_has_no_secret(
    mode: dict[str, str],
    takes_role: bool,
    kinesis: KinesisEmulator,
    tokens: TokenService,
    new_stream: Callable[..., str],
    tmp_path: Path,
) -> None:
    read, written = new_stream(), new_stream()
    kinesis.put_records(read, [(f"key-{i % 3}", f"value {i}") for i in range(30)])
    options = {
        "endpoint": kinesis.endpoint,
        "region": "us-east-1",
        "awsAccessKey": "planted-key-id",
        "awsSecretKey": SECRET,
        "sessionToken": TOKEN,
    }
    if takes_role:
        options |= {"roleArn": "arn:aws:iam::123456789012:role/planted", "stsEndpoint": tokens.endpoint}
    settings, log = tmp_path / "log4j2.properties", tmp_path / "trace.log"
    settings.write_text(TRACE_TO_FILE)
    file, checkpoint = program(tmp_path, PROGRAM), tmp_path / "checkpoint"
    parts = [json.dumps(options), json.dumps(mode)]
    done = run([sys.executable, file, read, written, settings, log, checkpoint, *parts])
    assert "rows: 30" in done.stdout
    assert bool(tokens.secrets) == takes_role

    levels: dict[str, set[str]] = {}
    found: list[str] = []
    planted = (SECRET, TOKEN, *SIGNATURES, *tokens.secrets)
    with log.open(errors="replace") as lines:
        for line in lines:
            head = re.match(r"(TRACE|DEBUG|INFO|WARN|ERROR) (\S+) ", line)
            if head:
                levels.setdefault(head.group(2), set()).add(head.group(1))
            found.extend(line[:300] for secret in planted if secret.lower() in line.lower())
    assert found == []
    assert not any(secret in done.stdout + done.stderr for secret in planted)
    # The log is that of the whole process: it contains Spark's traces and the connector's events.
    assert any("TRACE" in of for name, of in levels.items() if name.startswith("org.apache.spark."))
    assert any("DEBUG" in of for name, of in levels.items() if name.startswith("org.sparkkinesis.event."))
    shaded = {name: of for name, of in levels.items() if name.startswith("org.sparkkinesis.shaded.")}
    assert all(of <= {"INFO", "WARN", "ERROR"} for of in shaded.values()), shaded
