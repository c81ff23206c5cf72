"""What goes wrong, under the names of conditions that docs/errors.md explains."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

_MESSAGE = re.compile(r"\[(KINESIS(?:_[A-Z]+)+)\] .*", re.DOTALL)
_LINE = re.compile(r"\[(KINESIS(?:_[A-Z]+)+)\] .*")
_PARAMETER = re.compile(r"\{([a-zA-Z]+)\}")


class KinesisConnectorError(Exception):
    """An error of the connector: ``condition`` names it, the message says problem, cause and fix."""

    def __init__(self, condition: str, message: str) -> None:
        super().__init__(message)
        self.condition = condition

    def __reduce__(self) -> tuple[type[KinesisConnectorError], tuple[str, str]]:
        return type(self), (self.condition, str(self))

    @classmethod
    def from_message(cls, message: str) -> KinesisConnectorError:
        """The error that a message of the JVM stands for; the message begins with the condition in brackets."""
        match = _MESSAGE.match(message)
        if match is None:
            raise ValueError(f"no message of the connector: {message!r}")
        return cls(match.group(1), message)

    @classmethod
    def of(cls, condition: str, **parameters: str) -> KinesisConnectorError:
        """The declared condition with its texts filled in, as the JVM words it."""
        from spark_kinesis._generated import CONDITIONS

        problem, cause, fix = (_fill(text, parameters) for text in CONDITIONS[condition])
        return cls(condition, f"[{condition}] {problem} Cause: {cause} Fix: {fix}")


@contextmanager
def raising_conditions() -> Iterator[None]:
    """Inside, an error of Spark that carries a condition of the connector is raised as KinesisConnectorError."""
    try:
        yield
    except KinesisConnectorError:
        raise
    except Exception as error:
        match = _LINE.search(str(error))
        if match is None:
            raise
        raise KinesisConnectorError(match.group(1), match.group(0)) from error


def condition_of(error: BaseException) -> str | None:
    """The condition that an error of Spark carries in its message, for example one raised by a failed query."""
    if isinstance(error, KinesisConnectorError):
        return error.condition
    match = _LINE.search(str(error))
    return match.group(1) if match else None


def _fill(text: str, parameters: Mapping[str, str]) -> str:
    return _PARAMETER.sub(lambda match: parameters.get(match.group(1), match.group(0)), text)
