"""The emulator against the API model that botocore carries (its own file, Apache-2.0, read where pip put it).

Every constraint of every operation is violated once, and every operation's answer is held against its shape.
"""

from __future__ import annotations

import base64
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import botocore.session
import pytest
from botocore.model import OperationModel, Shape

from spark_kinesis import KinesisEmulator
from spark_kinesis.emulator import ServiceError

MODEL = botocore.session.get_session().get_service_model("kinesis")

# Delivery to tables, and queues: the connector has no use for them.
LEFT_OUT = {name for name in MODEL.operation_names if "Channel" in name or "Queue" in name}
OPERATIONS = sorted(set(MODEL.operation_names) - LEFT_OUT)

# What the emulator answers otherwise than by a ValidationException: the error, and why.
EXCEPTIONS = {
    ("GetRecords", "Limit", "max"): ("InvalidArgumentException", "GetRecords' own page says so for more than 10,000"),
}

STREAM = "arn:aws:kinesis:us-east-1:123456789012:stream/model"
# What the simple types of the model are in JSON.
TYPES: dict[str, tuple[type, ...]] = {
    "boolean": (bool,),
    "integer": (int,),
    "long": (int,),
    "timestamp": (int, float),
}
# Errors that any operation may answer, whatever it lists: the protocol's own, and that of the model's constraints.
COMMON_ERRORS = {"ValidationException", "SerializationException"}


@dataclass(frozen=True)
class Violation:
    """A request that breaks one constraint of one member."""

    operation: str
    path: tuple[str | int, ...]
    constraint: str
    request: dict[str, Any]

    @property
    def member(self) -> str:
        names = [str(part) for part in self.path if isinstance(part, str)]
        return ".".join(names)


def base_requests(consumer_arn: str, iterator: str, number: str) -> dict[str, dict[str, Any]]:
    """A valid request for every operation, in an order in which each of them succeeds."""
    by_name = {"StreamName": "model"}
    by_arn = {"StreamARN": STREAM}
    resource = {"ResourceARN": STREAM}
    shard = {"ShardId": "shardId-000000000000"}
    key = {"EncryptionType": "KMS", "KeyId": "alias/aws/kinesis"}
    entry = {"Data": "QQ==", "PartitionKey": "k", "ExplicitHashKey": "1"}
    return {
        "CreateStream": {
            "StreamName": "other",
            "ShardCount": 1,
            "StreamModeDetails": {"StreamMode": "PROVISIONED"},
            "Tags": {"k": "v"},
        },
        "DescribeStream": by_name,
        "DescribeStreamSummary": by_name,
        "ListStreams": {},
        "ListShards": {**by_name, "ShardFilter": {"Type": "AFTER_SHARD_ID", **shard}},
        "GetShardIterator": {
            **by_name,
            **shard,
            "ShardIteratorType": "AFTER_SEQUENCE_NUMBER",
            "StartingSequenceNumber": number,
        },
        "GetRecords": {"ShardIterator": iterator, "Limit": 10},
        "PutRecord": {**by_name, **entry, "SequenceNumberForOrdering": number},
        "PutRecords": {**by_name, "Records": [entry]},
        "SubscribeToShard": {
            "ConsumerARN": consumer_arn,
            **shard,
            "StartingPosition": {"Type": "AT_SEQUENCE_NUMBER", "SequenceNumber": number},
        },
        "DescribeStreamConsumer": {"ConsumerARN": consumer_arn},
        "ListStreamConsumers": by_arn,
        "RegisterStreamConsumer": {**by_arn, "ConsumerName": "second", "Tags": {"k": "v"}},
        "DeregisterStreamConsumer": {**by_arn, "ConsumerName": "second"},
        "TagResource": {**resource, "Tags": {"k": "v"}},
        "ListTagsForResource": resource,
        "UntagResource": {**resource, "TagKeys": ["k"]},
        "AddTagsToStream": {**by_name, "Tags": {"k": "v"}},
        "ListTagsForStream": by_name,
        "RemoveTagsFromStream": {**by_name, "TagKeys": ["k"]},
        "PutResourcePolicy": {**resource, "Policy": "{}"},
        "GetResourcePolicy": resource,
        "DeleteResourcePolicy": resource,
        "IncreaseStreamRetentionPeriod": {**by_name, "RetentionPeriodHours": 48},
        "DecreaseStreamRetentionPeriod": {**by_name, "RetentionPeriodHours": 24},
        "StartStreamEncryption": {**by_name, **key},
        "StopStreamEncryption": {**by_name, **key},
        "EnableEnhancedMonitoring": {**by_name, "ShardLevelMetrics": ["ALL"]},
        "DisableEnhancedMonitoring": {**by_name, "ShardLevelMetrics": ["IncomingBytes"]},
        "UpdateMaxRecordSize": {**by_arn, "MaxRecordSizeInKiB": 2048},
        "SplitShard": {**by_name, "ShardToSplit": shard["ShardId"], "NewStartingHashKey": "1000"},
        "MergeShards": {
            **by_name,
            "ShardToMerge": "shardId-000000000001",
            "AdjacentShardToMerge": "shardId-000000000002",
        },
        "UpdateShardCount": {**by_name, "TargetShardCount": 2, "ScalingType": "UNIFORM_SCALING"},
        "DescribeLimits": {},
        "UpdateAccountSettings": {"MinimumThroughputBillingCommitment": {"Status": "ENABLED"}},
        "DescribeAccountSettings": {},
        "UpdateStreamMode": {**by_arn, "StreamModeDetails": {"StreamMode": "ON_DEMAND"}},
        "UpdateStreamWarmThroughput": {**by_name, "WarmThroughputMiBps": 10},
        "UpdateStreamRecordDistributionStrategy": {**by_arn, "RecordDistributionStrategy": "USER_PARTITION_KEY"},
        "DeleteStream": {**by_name, "EnforceConsumerDeletion": True},
    }


@pytest.fixture(scope="module")
def emulator() -> Iterator[KinesisEmulator]:
    with KinesisEmulator(quotas=False) as own:
        yield own


@pytest.fixture(scope="module")
def bases(emulator: KinesisEmulator) -> dict[str, dict[str, Any]]:
    client = emulator.client
    emulator.create_stream("model")
    put = client.call("PutRecord", StreamName="model", Data="QQ==", PartitionKey="k")
    consumer = client.call("RegisterStreamConsumer", StreamARN=STREAM, ConsumerName="c")["Consumer"]["ConsumerARN"]
    emulator.control.advance_clock(timedelta(seconds=1))
    iterator = client.call(
        "GetShardIterator", StreamName="model", ShardId=put["ShardId"], ShardIteratorType="TRIM_HORIZON"
    )["ShardIterator"]
    return base_requests(consumer, iterator, put["SequenceNumber"])


def bad_values(shape: Shape, valid: Any) -> Iterator[tuple[str, Any]]:
    """Each constraint of one shape with a value that breaks it, and no other where that can be."""
    least, most = shape.metadata.get("min"), shape.metadata.get("max")
    if shape.type_name == "string":
        if shape.enum:
            yield "enum", "NO_SUCH_VALUE"
        if least:
            yield "min", ""
        if most is not None:
            # Every pattern of the model that a maximal length goes with takes digits at the end.
            yield "max", str(valid) + "1" * (most + 1 - len(str(valid)))
        if (pattern := shape.metadata.get("pattern")) is not None:
            broken = f"{valid} !"
            assert re.fullmatch(pattern, str(valid))
            assert not re.fullmatch(pattern, broken)
            yield "pattern", broken
    elif shape.type_name in ("integer", "long"):
        if least is not None:
            yield "min", least - 1
        if most is not None:
            yield "max", most + 1
    elif shape.type_name == "list":
        if least:
            yield "min", []
        if most is not None:
            yield "max", [copy.deepcopy(valid[0]) for _ in range(most + 1)]
    elif shape.type_name == "map":
        if least:
            yield "min", {}
        if most is not None:
            yield "max", {f"k{i}": "v" for i in range(most + 1)}
        yield from ((f"key {name}", {key: "v"}) for name, key in bad_values(shape.key, "k"))
        yield from ((f"value {name}", {"k": value}) for name, value in bad_values(shape.value, "v"))
    elif shape.type_name == "blob" and most is not None:
        yield "max", base64.b64encode(bytes(most + 1)).decode()


def valid_value(shape: Shape) -> Any:
    """A valid value for an optional member that the base request leaves out."""
    by_shape = {
        "StreamARN": STREAM,
        "StreamId": "0" * 20 + "-abc",
        "ShardId": "shardId-000000000000",
        "ConsumerARN": f"{STREAM}/consumer/c:1",
        "NextToken": "token",
    }
    if shape.type_name == "map":
        return {"k": "v"}
    if shape.name in by_shape:
        return by_shape[shape.name]
    return shape.enum[0] if shape.type_name == "string" and shape.enum else "1"


def with_value(request: dict[str, Any], path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(request)
    inner: Any = changed
    for part in path[:-1]:
        inner = inner[part]
    if value is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return changed


def violations(operation: OperationModel, base: dict[str, Any]) -> Iterator[Violation]:
    def of(shape: Shape, value: Any, path: tuple[str | int, ...]) -> Iterator[Violation]:
        if shape.type_name == "structure":
            for name, member in shape.members.items():
                here = (*path, name)
                present = value.get(name)
                if name in shape.required_members:
                    assert present is not None, f"the request for {operation.name} lacks {here}"
                    yield Violation(operation.name, here, "required", with_value(base, here, None))
                if present is not None or member.type_name not in ("structure", "list"):
                    yield from of(member, valid_value(member) if present is None else present, here)
        else:
            for constraint, bad in bad_values(shape, value):
                yield Violation(operation.name, path, constraint, with_value(base, path, bad))
            if shape.type_name == "list":
                yield from of(shape.member, value[0], (*path, 0))

    if operation.input_shape is not None:
        yield from of(operation.input_shape, base, ())


def refusal(emulator: KinesisEmulator, operation: str, request: dict[str, Any]) -> ServiceError | None:
    try:
        emulator.client.call(operation, **request)
    except ServiceError as error:
        return error
    return None


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_constraint_is_enforced(
    operation: str, emulator: KinesisEmulator, bases: dict[str, dict[str, Any]]
) -> None:
    wrong = []
    for violation in violations(MODEL.operation_model(operation), bases[operation]):
        error = refusal(emulator, operation, violation.request)
        what = f"{violation.member} {violation.constraint}"
        expected = EXCEPTIONS.get((operation, violation.member, violation.constraint), ("ValidationException", ""))[0]
        named = str(violation.member.rpartition(".")[2]).lower()
        if error is None:
            wrong.append(f"{what}: taken")
        elif error.name != expected or named not in str(error).lower():
            wrong.append(f"{what}: {str(error)[:150]}")
    assert wrong == []


def test_the_exceptions_are_of_the_model(bases: dict[str, dict[str, Any]]) -> None:
    known = {
        (name, violation.member, violation.constraint)
        for name in OPERATIONS
        for violation in violations(MODEL.operation_model(name), bases[name])
    }
    assert EXCEPTIONS.keys() - known == set()


@pytest.mark.parametrize("operation", sorted(LEFT_OUT))
def test_what_is_left_out_is_an_unknown_operation(operation: str, emulator: KinesisEmulator) -> None:
    with pytest.raises(ServiceError) as caught:
        emulator.client.call(operation)
    assert caught.value.name == "UnknownOperationException"


def departures(shape: Shape, value: Any, at: str = "answer") -> Iterator[str]:
    """Where an answer is not of its shape."""
    if shape.type_name == "structure":
        if not isinstance(value, dict):
            yield f"{at} is no structure"
            return
        yield from (f"{at}.{name} is missing" for name in shape.required_members if name not in value)
        for name, inner in value.items():
            if name in shape.members:
                yield from departures(shape.members[name], inner, f"{at}.{name}")
            else:
                yield f"{at}.{name} is not in the model"
    elif shape.type_name == "list":
        for i, inner in enumerate(value):
            yield from departures(shape.member, inner, f"{at}[{i}]")
    elif shape.type_name == "string":
        if not isinstance(value, str) or (shape.enum and value not in shape.enum):
            yield f"{at} is {value!r}"
        elif (pattern := shape.metadata.get("pattern")) and not re.fullmatch(pattern, value):
            yield f"{at} is {value!r}, not {pattern}"
    elif not isinstance(value, TYPES.get(shape.type_name, object)):
        yield f"{at} is {value!r}"


def test_every_operation_answers_by_its_shape(emulator: KinesisEmulator, bases: dict[str, dict[str, Any]]) -> None:
    assert sorted(bases) == OPERATIONS
    wrong = []
    for name, request in bases.items():
        shape = MODEL.operation_model(name).output_shape
        if name == "SubscribeToShard":
            continue  # An event stream; the suites that subscribe read it by the SDK's own decoder and by botocore's.
        answer = emulator.client.call(name, **request)
        # Whatever changes is ACTIVE again.
        emulator.control.advance_clock(timedelta(seconds=1))
        if shape is None:
            wrong += [f"{name} answers {answer}"] if answer else []
        else:
            wrong += [f"{name}: {what}" for what in departures(shape, answer)]
    assert wrong == []


def test_every_error_that_an_operation_lists_can_be_asked_for(emulator: KinesisEmulator) -> None:
    for name in OPERATIONS:
        listed = {shape.name for shape in MODEL.operation_model(name).error_shapes}
        for error in sorted(listed | COMMON_ERRORS):
            emulator.control.add_fault("error", errorType=error, operation=name, count=1)
            refused = refusal(emulator, name, {})
            assert refused is not None, f"{name} was not refused with {error}"
            assert refused.name == error, f"{name}: {refused}"
