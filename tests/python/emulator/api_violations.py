"""Requests that break one constraint of the API model each."""

from __future__ import annotations

import base64
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from api_requests import STREAM
from botocore.model import OperationModel, Shape


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


def bad_values(shape: Shape, valid: Any) -> Iterator[tuple[str, Any]]:
    """Return each constraint of one shape with a value that breaks it and, if possible, no other constraint."""
    least, most = shape.metadata.get("min"), shape.metadata.get("max")
    if shape.type_name == "string":
        if shape.enum:
            yield "enum", "NO_SUCH_VALUE"
        if least:
            yield "min", ""
        if most is not None:
            # Every pattern of a member with a maximum length accepts digits at its end.
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
    """Return a valid value for an optional member that the base request lacks."""
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
