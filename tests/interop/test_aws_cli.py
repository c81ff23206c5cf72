"""The AWS CLI, as people type it."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from typing import Any

import pytest

CLI = os.environ.get("AWS_CLI") or shutil.which("aws")
pytestmark = pytest.mark.skipif(
    CLI is None, reason="the AWS CLI is not installed (pip install awscli, or AWS_CLI=path)"
)


def aws(endpoint: str, *arguments: str) -> Any:
    environment = dict(
        os.environ,
        AWS_ACCESS_KEY_ID="key",
        AWS_SECRET_ACCESS_KEY="secret",
        AWS_DEFAULT_REGION="us-east-1",
        AWS_PAGER="",
    )
    run = subprocess.run(
        [str(CLI), "kinesis", *arguments, "--endpoint-url", endpoint, "--output", "json"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout) if run.stdout else None


def test_put_and_read(endpoint: str) -> None:
    aws(endpoint, "create-stream", "--stream-name", "cli", "--shard-count", "1")
    aws(endpoint, "wait", "stream-exists", "--stream-name", "cli")
    # Version 2 takes base64 unless told otherwise; version 1, the one on PyPI, takes the bytes themselves.
    version = subprocess.run([str(CLI), "--version"], capture_output=True, text=True, check=True).stdout
    data = "from the shell" if version.startswith("aws-cli/1") else base64.b64encode(b"from the shell").decode()
    put = aws(endpoint, "put-record", "--stream-name", "cli", "--partition-key", "k", "--data", data)
    iterator = aws(
        endpoint,
        *("get-shard-iterator", "--stream-name", "cli", "--shard-id", put["ShardId"]),
        *("--shard-iterator-type", "TRIM_HORIZON"),
    )["ShardIterator"]
    records = aws(endpoint, "get-records", "--shard-iterator", iterator)["Records"]
    assert [base64.b64decode(r["Data"]) for r in records] == [b"from the shell"]
    aws(
        endpoint,
        "update-shard-count",
        *("--stream-name", "cli", "--target-shard-count", "2", "--scaling-type", "UNIFORM_SCALING"),
    )
    aws(endpoint, "wait", "stream-exists", "--stream-name", "cli")
    assert len(aws(endpoint, "list-shards", "--stream-name", "cli")["Shards"]) == 3
    summary = aws(endpoint, "describe-stream-summary", "--stream-name", "cli")["StreamDescriptionSummary"]
    assert summary["OpenShardCount"] == 2
    aws(endpoint, "delete-stream", "--stream-name", "cli")
