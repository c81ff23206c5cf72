from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pyspark
import pytest

from spark_kinesis import KinesisConnectorError, KinesisEmulator
from spark_kinesis.emulator import EmulatorControl, KinesisClient, ServiceError
from spark_kinesis.emulator.java import emulator_jar


def _is_gone(pid: int, within: float = 60) -> bool:
    end = time.monotonic() + within
    while time.monotonic() < end:
        try:
            with open(f"/proc/{pid}/stat") as stat:
                if stat.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


def test_records_are_read_as_they_were_put(kinesis: KinesisEmulator, new_stream: Callable[..., str]) -> None:
    stream = new_stream(shards=3)
    sent = [(f"key-{i}", f"väl {i}".encode()) for i in range(1234)]
    assert kinesis.put_records(stream, sent) == 1234
    assert sorted((r.partition_key, r.data) for r in kinesis.records(stream)) == sorted(sent)
    assert len(kinesis.client.shards(stream)) == 3


def test_an_error_has_the_services_name(kinesis: KinesisEmulator) -> None:
    with pytest.raises(ServiceError, match="not found") as caught:
        kinesis.client.call("DescribeStreamSummary", StreamName="no-such-stream")
    assert caught.value.name == "ResourceNotFoundException"


def test_quotas_are_enforced_unless_switched_off() -> None:
    with KinesisEmulator() as strict:
        strict.create_stream("orders")
        # One call is above the quota of 1 MiB per second and shard, at any speed of the machine.
        answer = strict.client.call(
            "PutRecords", StreamName="orders", Records=[{"PartitionKey": "k", "Data": "A" * 4096}] * 500
        )
    assert answer["FailedRecordCount"] > 0


def test_control_gives_faults_the_clock_and_the_calls() -> None:
    with KinesisEmulator(quotas=False) as kinesis:
        kinesis.create_stream("orders")
        kinesis.control.add_fault("throttle", operation="DescribeStreamSummary", count=1)
        with pytest.raises(ServiceError, match="ProvisionedThroughputExceededException"):
            kinesis.client.status("orders")
        assert kinesis.client.status("orders") == "ACTIVE"
        with pytest.raises(ValueError, match="No fault effect 'rain'"):
            kinesis.control.add_fault("rain")
        kinesis.control.add_fault("error", operation="PutRecords")
        kinesis.control.clear_faults(seed=7)
        kinesis.control.reset_calls()
        kinesis.put_records("orders", [("k", "v")])
        assert [(c.operation, c.stream, c.count) for c in kinesis.control.calls()] == [("PutRecords", "orders", 1)]
        kinesis.control.advance_clock(timedelta(hours=25))
        assert kinesis.records("orders") == []
        kinesis.control.set_quotas(True)
        kinesis.control.scale_quota("getRecordsCalls", 2.0)


def test_with_credentials_only_the_control_of_this_emulator_reaches_its_pages() -> None:
    with KinesisEmulator(arguments=["--credentials", "AKIAOWNER:the-secret"]) as kinesis:
        with pytest.raises(ValueError, match="admin token"):
            EmulatorControl(kinesis.endpoint).calls()
        kinesis.control.set_quotas(False)
        assert kinesis.control.calls() == []


def test_several_accounts_and_regions_have_streams_of_one_name() -> None:
    with KinesisEmulator(accounts=["111111111111", "222222222222"]) as kinesis:
        kinesis.create_stream("orders")
        arn = kinesis.control.create_stream("orders", account="222222222222", region="eu-west-1")
        assert arn == "arn:aws:kinesis:eu-west-1:222222222222:stream/orders"
        there = kinesis.client_of("222222222222", "eu-west-1")
        there.put_records("orders", [("k", "there")])
        kinesis.control.add_fault("error", region="us-east-1")
        with pytest.raises(ServiceError, match="InternalFailure"):
            kinesis.client.status("orders")
        assert [record.data for record in there.records("orders")] == [b"there"]
        assert {(c.account, c.region) for c in kinesis.control.calls() if c.operation == "PutRecords"} == {
            ("222222222222", "eu-west-1")
        }
        there.close()
        with pytest.raises(ValueError, match="but not 333333333333"):
            kinesis.client_of("333333333333")


def test_the_metadata_page_serves_the_document_with_an_etag_and_with_faults() -> None:
    def get(**headers: str) -> tuple[int, bytes]:
        request = urllib.request.Request(kinesis.metadata_url + "?id=orders", headers=headers)
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    with KinesisEmulator() as kinesis:
        kinesis.control.set_metadata({"version": 1, "streams": {"orders": []}})
        status, body = get()
        assert (status, json.loads(body)) == (
            200,
            {"version": 1, "streams": {"orders": []}},
        )
        kinesis.control.add_fault("truncatedDocument", operation="GetMetadata", count=1)
        assert len(get()[1]) < len(body)
        kinesis.control.set_metadata({"version": 2, "streams": {"orders": []}}, token="page-secret")
        assert get()[0] == 401
        assert json.loads(get(Authorization="Bearer page-secret")[1])["version"] == 2


def test_stop_ends_the_jvm_and_frees_the_port() -> None:
    emulator = KinesisEmulator().start()
    pid, endpoint = emulator.pid, emulator.endpoint
    emulator.stop()
    assert _is_gone(pid)
    with pytest.raises(KinesisConnectorError, match="is not running"):
        _ = emulator.pid
    with KinesisEmulator(port=int(endpoint.rpartition(":")[2])) as again:
        assert again.endpoint == endpoint


def test_a_port_that_is_taken_is_a_clear_error(kinesis: KinesisEmulator) -> None:
    port = int(kinesis.endpoint.rpartition(":")[2])
    with pytest.raises(KinesisConnectorError, match="did not start") as caught:
        KinesisEmulator(port=port).start()
    assert caught.value.condition == "KINESIS_EMULATOR_FAILED"
    assert f"Port {port} of 127.0.0.1 cannot be listened on: Address already in use" in str(caught.value)


def test_the_jvm_ends_when_its_parent_is_killed() -> None:
    program = (
        "import time; from spark_kinesis import KinesisEmulator\n"
        "emulator = KinesisEmulator().start(); print(emulator.pid, flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
    assert _is_gone(pid)


def test_the_command_prints_its_endpoint_and_runs_until_it_is_stopped() -> None:
    command = [
        sys.executable,
        "-m",
        "spark_kinesis.emulator",
        "--port",
        "0",
        "--quotas",
        "off",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        started = json.loads(process.stdout.readline())
        client = KinesisClient(started["endpoint"])
        client.create_stream("orders", shards=2)
        assert client.status("orders") == "ACTIVE"
        client.close()
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)


def test_the_documented_java_command_serves_from_the_jar(root: Path) -> None:
    documented = re.search(r"^java -cp .*$", (root / "docs" / "emulator.md").read_text(), re.MULTILINE)
    assert documented is not None
    command = documented.group().replace("--port 4567", "--port 0 --stdin-bound")
    with subprocess.Popen(
        ["bash", "-c", f"exec {command}"],
        cwd=emulator_jar().parent,
        env={**os.environ, "SPARK_HOME": str(Path(pyspark.__file__).parent)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        client = KinesisClient(json.loads(process.stdout.readline())["endpoint"])
        client.create_stream("orders", shards=2)
        assert client.status("orders") == "ACTIVE"
        client.close()
        process.stdin.close()
        assert process.wait(60) == 0


def test_a_wrong_argument_is_refused() -> None:
    command = [sys.executable, "-m", "spark_kinesis.emulator", "--colour", "blue"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--colour" in done.stderr


def test_without_java_the_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nonexistent")
    with pytest.raises(KinesisConnectorError, match="There is no java in JAVA_HOME"):
        KinesisEmulator().start()
