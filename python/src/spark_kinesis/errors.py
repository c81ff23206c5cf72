"""Errors of the connector, under the names of conditions that docs/errors.md explains."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from spark_kinesis._conditions import CONDITIONS

_MESSAGE = re.compile(r"\[(KINESIS(?:_[A-Z]+)+)\] .*")
_PARAMETER = re.compile(r"\{([a-zA-Z]+)\}")


class KinesisConnectorError(Exception):
    """An error of the connector. ``condition`` is its name; the message has the problem, the cause and the fix."""

    def __init__(self, condition: str, message: str) -> None:
        super().__init__(message)
        self.condition = condition

    def __reduce__(self) -> tuple[type[KinesisConnectorError], tuple[str, str]]:
        return type(self), (self.condition, str(self))

    @classmethod
    def of(cls, condition: str, **parameters: str) -> KinesisConnectorError:
        """Return the declared condition with its parameters filled in."""
        problem, cause, fix = (_fill(text, parameters) for text in CONDITIONS[condition])
        return cls(condition, f"[{condition}] {problem} Cause: {cause} Fix: {fix}")


@contextmanager
def raising_conditions() -> Iterator[None]:
    """Raise an error of Spark that carries a condition of the connector as KinesisConnectorError."""
    try:
        yield
    except KinesisConnectorError:
        raise
    except Exception as error:
        match = _MESSAGE.search(str(error))
        if match is None:
            raise
        raise KinesisConnectorError(match.group(1), match.group(0)) from error


def condition_of(error: BaseException) -> str | None:
    """Return the condition in the message of a Spark error, for example the error of a failed query; None without
    one.
    """
    if isinstance(error, KinesisConnectorError):
        return error.condition
    match = _MESSAGE.search(str(error))
    return match.group(1) if match else None


def _fill(text: str, parameters: Mapping[str, str]) -> str:
    return _PARAMETER.sub(lambda match: parameters.get(match.group(1), match.group(0)), text)
