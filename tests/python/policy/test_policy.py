"""The IAM policies that ``python -m spark_kinesis.policy`` prints, as texts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from spark_kinesis import PhysicalStream, StreamMetadata
from spark_kinesis._permissions import PERMISSIONS
from spark_kinesis.policy import Use, actions_of, main, policy, without

ORDERS = "arn:aws:kinesis:us-east-1:123456789012:stream/orders"
OTHER = "arn:aws:kinesis:eu-west-1:210987654321:stream/clicks"
KEY = "arn:aws:kms:us-east-1:123456789012:key/1234abcd-12ab"
ROLE = "arn:aws:iam::123456789012:role/reader"
HERE = ["--account", "123456789012", "--region", "us-east-1"]
READ = ["DescribeStreamSummary", "ListShards", "GetShardIterator", "GetRecords"]
WRITE = ["DescribeStreamSummary", "PutRecords", "ListShards"]

Statement = tuple[str, list[str], "str | list[str]"]


def stream(*names: str) -> list[str]:
    return [f"kinesis:{name}" for name in names]


def printed(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> Any:
    assert main(arguments) == 0
    return json.loads(capsys.readouterr().out)


def statements(document: dict[str, Any]) -> list[Statement]:
    assert document["Version"] == "2012-10-17"
    assert all(one["Effect"] == "Allow" for one in document["Statement"])
    return [(one["Sid"], one["Action"], one["Resource"]) for one in document["Statement"]]


CASES: list[tuple[str, list[Statement]]] = [
    (f"--stream {ORDERS}", [("Streams", stream(*READ), ORDERS)]),
    (f"--stream orders {' '.join(HERE)}", [("Streams", stream(*READ), ORDERS)]),
    (f"--stream {ORDERS} --stream {OTHER}", [("Streams", stream(*READ), [ORDERS, OTHER])]),
    (f"--stream {ORDERS} --stream orders {' '.join(HERE)}", [("Streams", stream(*READ), ORDERS)]),
    (
        f"--stream {ORDERS} --consumer app",
        [
            ("Streams", stream(*READ, "RegisterStreamConsumer"), ORDERS),
            (
                "Consumers",
                stream("DescribeStreamConsumer", "SubscribeToShard", "DeregisterStreamConsumer"),
                f"{ORDERS}/consumer/app:*",
            ),
        ],
    ),
    (
        f"--stream {ORDERS} --stream {OTHER} --consumer app --no-registration",
        [
            ("Streams", stream(*READ), [ORDERS, OTHER]),
            (
                "Consumers",
                stream("DescribeStreamConsumer", "SubscribeToShard"),
                [f"{ORDERS}/consumer/app:*", f"{OTHER}/consumer/app:*"],
            ),
        ],
    ),
    (
        f"--stream {ORDERS} --consumer {ORDERS}/consumer/app:1700000000 --no-registration",
        [
            ("Streams", stream(*READ), ORDERS),
            (
                "Consumers",
                stream("DescribeStreamConsumer", "SubscribeToShard"),
                f"{ORDERS}/consumer/app:1700000000",
            ),
        ],
    ),
    (f"--stream {ORDERS} --write", [("Streams", stream(*WRITE), ORDERS)]),
    (
        f"--stream {ORDERS} --write --no-shard-limits",
        [("Streams", stream("DescribeStreamSummary", "PutRecords"), ORDERS)],
    ),
    (
        f"--stream {ORDERS} --write --read",
        [("Streams", stream(*READ, "PutRecords"), ORDERS)],
    ),
    (
        f"--stream {ORDERS} --write --dead-letters {OTHER}",
        [("Streams", stream(*WRITE), ORDERS), ("DeadLetters", stream(*WRITE), OTHER)],
    ),
    (
        f"--stream {ORDERS} --write --dead-letters {ORDERS}",
        [("Streams", stream(*WRITE), ORDERS)],
    ),
    (
        f"--pattern orders-.* {' '.join(HERE)}",
        [("Streams", stream(*READ), f"{ORDERS}-*"), ("Pattern", stream("ListStreams"), "*")],
    ),
    (
        "--firehose archive --account 123456789012 --region cn-north-1",
        [
            (
                "Firehose",
                ["firehose:PutRecordBatch"],
                "arn:aws-cn:firehose:cn-north-1:123456789012:deliverystream/archive",
            )
        ],
    ),
]


@pytest.mark.parametrize(("arguments", "expected"), CASES, ids=[arguments for arguments, _ in CASES])
def test_the_policy_has_the_actions_of_the_use_on_its_resources(
    capsys: pytest.CaptureFixture[str], arguments: str, expected: list[Statement]
) -> None:
    assert statements(printed(capsys, arguments.split())) == expected


@pytest.mark.parametrize(
    ("arguments", "actions"),
    [
        ("", ["kms:Decrypt"]),
        ("--write", ["kms:GenerateDataKey"]),
        ("--write --read", ["kms:Decrypt", "kms:GenerateDataKey"]),
    ],
)
def test_an_encrypted_stream_needs_its_key_through_kinesis(
    capsys: pytest.CaptureFixture[str], arguments: str, actions: list[str]
) -> None:
    document = printed(capsys, ["--stream", ORDERS, "--kms", KEY, *arguments.split()])
    assert document["Statement"][-1] == {
        "Sid": "Key",
        "Effect": "Allow",
        "Action": actions,
        "Resource": KEY,
        "Condition": {"StringEquals": {"kms:ViaService": "kinesis.us-east-1.amazonaws.com"}},
    }


def test_a_role_has_its_policy_and_the_caller_may_only_assume_it(capsys: pytest.CaptureFixture[str]) -> None:
    both = printed(capsys, ["--stream", ORDERS, "--role", ROLE])
    assert statements(both["caller"]) == [("Role", ["sts:AssumeRole"], ROLE)]
    assert both["role"] == policy(Use(streams=[ORDERS]))


@pytest.mark.parametrize(
    ("pattern", "prefix"),
    [
        ("orders-.*", "orders-"),
        ("^orders-[0-9]+$", "orders-"),
        ("orders", "orders"),
        ("orders?", "order"),
        ("orders*", "order"),
        ("orders{2}", "order"),
        ("orders+", "orders"),
        (r"a\.b.*", "a.b"),
        ("(orders|clicks)-.*", ""),
        ("orders|clicks", ""),
        (".*", ""),
    ],
)
def test_a_pattern_allows_what_begins_as_its_matches(pattern: str, prefix: str) -> None:
    document = policy(Use(patterns=[pattern], account="123456789012", region="us-east-1"))
    assert document["Statement"][0]["Resource"] == f"arn:aws:kinesis:us-east-1:123456789012:stream/{prefix}*"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("", "There is nothing to allow: set --stream"),
        ("--stream orders", "A name has no account: set --account"),
        ("--stream orders --account 123456789012", "A name has no region: set --region"),
        ("--stream orders --account 12 --region us-east-1", "12 digits"),
        ("--stream or/ders", "neither the name nor the ARN of a stream"),
        (f"--stream {ORDERS} --consumer a/b", "neither the name nor the ARN of a consumer"),
        (f"--stream {ORDERS} --kms alias/mine", "not the ARN of a key"),
        (f"--stream {ORDERS} --role reader", "not the ARN of a role"),
        ("--firehose a/b", "neither the name nor the ARN of a delivery stream"),
    ],
)
def test_an_error_names_the_argument_that_is_missing_or_wrong(
    capsys: pytest.CaptureFixture[str], arguments: str, error: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments.split())
    assert ended.value.code == 2
    assert error in capsys.readouterr().err


def test_a_metadata_document_adds_its_streams_and_roles(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    metadata = StreamMetadata(tmp_path / "streams.json")
    metadata.put("orders", [PhysicalStream(ORDERS), PhysicalStream(OTHER, role=ROLE)])
    both = printed(capsys, ["--metadata", str(metadata.path)])
    assert statements(both["caller"]) == [("Role", ["sts:AssumeRole"], ROLE)]
    assert both["role"] == policy(Use(streams=[ORDERS, OTHER]))
    metadata.path.write_text("[]")
    with pytest.raises(SystemExit):
        main(["--metadata", str(metadata.path)])
    assert "not a metadata document" in capsys.readouterr().err


def test_the_command_prints_the_policy() -> None:
    command = [sys.executable, "-m", "spark_kinesis.policy", "--stream", ORDERS]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert json.loads(output) == policy(Use(streams=[ORDERS]))


def test_a_policy_without_an_action_has_the_others() -> None:
    document = policy(Use(streams=[ORDERS], consumers=["app"]))
    for action in actions_of(document):
        assert set(actions_of(without(document, action))) == set(actions_of(document)) - {action}
    assert set(actions_of(document)) == {
        action for use in ("read", "fan_out", "registration") for action, _ in PERMISSIONS[use]
    }
