"""Test the emulator against the API model that botocore contains (its own file, Apache-2.0, read from its package).

Every constraint of every operation is violated once, and the answer of every operation is compared with its shape.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from api_requests import LEFT_OUT, MODEL, OPERATIONS, STREAM, base_requests
from api_violations import violations
from botocore.model import Shape

from spark_kinesis import KinesisEmulator
from spark_kinesis.emulator import ServiceError

# Constraints with another error than ValidationException: the error and the reason.
EXCEPTIONS = {
    ("GetRecords", "Limit", "max"): (
        "InvalidArgumentException",
        "the API reference of GetRecords says so for more than 10,000",
    ),
}

# The JSON types of the model's simple types.
TYPES: dict[str, tuple[type, ...]] = {
    "boolean": (bool,),
    "integer": (int,),
    "long": (int,),
    "timestamp": (int, float),
}
# Errors that every operation may return: those of the protocol and of the model's constraints.
COMMON_ERRORS = {"ValidationException", "SerializationException"}


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
            wrong.append(f"{what}: accepted")
        elif error.name != expected or named not in str(error).lower():
            wrong.append(f"{what}: {str(error)[:150]}")
    assert wrong == []


def test_the_exceptions_are_constraints_of_the_model(bases: dict[str, dict[str, Any]]) -> None:
    known = {
        (name, violation.member, violation.constraint)
        for name in OPERATIONS
        for violation in violations(MODEL.operation_model(name), bases[name])
    }
    assert EXCEPTIONS.keys() - known == set()


@pytest.mark.parametrize("operation", sorted(LEFT_OUT))
def test_unsupported_operations_are_unknown(operation: str, emulator: KinesisEmulator) -> None:
    with pytest.raises(ServiceError) as caught:
        emulator.client.call(operation)
    assert caught.value.name == "UnknownOperationException"


def departures(shape: Shape, value: Any, at: str = "answer") -> Iterator[str]:
    """Return the places where an answer does not match its shape."""
    if shape.type_name == "structure":
        if not isinstance(value, dict):
            yield f"{at} is not a structure"
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


def test_every_answer_matches_its_shape(emulator: KinesisEmulator, bases: dict[str, dict[str, Any]]) -> None:
    assert sorted(bases) == OPERATIONS
    wrong = []
    for name, request in bases.items():
        shape = MODEL.operation_model(name).output_shape
        if name == "SubscribeToShard":
            continue  # It is an event stream, which other suites decode with the SDK and with botocore.
        answer = emulator.client.call(name, **request)
        # After this, streams and consumers are ACTIVE again.
        emulator.control.advance_clock(timedelta(seconds=1))
        if shape is None:
            wrong += [f"{name} answers {answer}"] if answer else []
        else:
            wrong += [f"{name}: {what}" for what in departures(shape, answer)]
    assert wrong == []


def test_faults_can_return_every_error_of_an_operation(emulator: KinesisEmulator) -> None:
    for name in OPERATIONS:
        listed = {shape.name for shape in MODEL.operation_model(name).error_shapes}
        for error in sorted(listed | COMMON_ERRORS):
            emulator.control.add_fault("error", errorType=error, operation=name, count=1)
            refused = refusal(emulator, name, {})
            assert refused is not None, f"{name} was not refused with {error}"
            assert refused.name == error, f"{name}: {refused}"
