"""The common part of the builders of sources and sinks: an immutable set of options, each stored as text."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar

from spark_kinesis._redaction import redacted

if TYPE_CHECKING:
    from typing_extensions import Self

    from spark_kinesis.emulator import KinesisEmulator

_B = TypeVar("_B", bound="Builder")


class Builder:
    """Options under their Spark names. Every method returns a new builder, so a builder can be shared and reused."""

    __slots__ = ("_texts",)
    _texts: Mapping[str, str]

    def __init__(self, stream: str | Sequence[str] | None, keywords: Mapping[str, Any], known: Collection[str]) -> None:
        """Call the method of each keyword; ``known`` has the names of the keywords that the builder takes."""
        builder = self._copy({})
        if stream is not None:
            names = [stream] if isinstance(stream, str) else list(stream)
            are_arns = bool(names) and all(name.startswith("arn:") for name in names)
            builder = builder._with("streamARN" if are_arns else "streamName", names)
        for name, value in keywords.items():
            if name not in known:
                nearest = "".join(f"; did you mean {match!r}?" for match in get_close_matches(name, known, n=1))
                raise TypeError(f"{type(self).__name__} has no option {name!r}{nearest}")
            builder = getattr(builder, name)(value)
        object.__setattr__(self, "_texts", builder._texts)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; its methods return a new builder")

    def _copy(self, texts: Mapping[str, str]) -> Self:
        return _restore(type(self), texts)

    def _with(self, key: str, value: Any) -> Self:
        texts = {k: text for k, text in self._texts.items() if k.lower() != key.lower()}
        return self._copy({**texts, key: to_text(value)})

    def option(self, key: str, value: Any) -> Self:
        """Set an option by its Spark name, as ``DataStreamReader.option`` does.

        The case of the name does not matter, and the names of other connectors are accepted.
        """
        return self._with(key, value)

    def on_emulator(self, emulator: KinesisEmulator) -> Self:
        """Connect to an emulator instead of the service."""
        copy = self
        for key, text in emulator.connection.items():
            copy = copy._with(key, text)
        return copy

    def options(self) -> dict[str, str]:
        """Return the options as Spark takes them, with secrets that are not references in clear text."""
        return dict(self._texts)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Builder) and other._texts == self._texts

    def __hash__(self) -> int:
        return hash(frozenset(self._texts.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), dict(self._texts))

    def __repr__(self) -> str:
        shown = {key: redacted(key, text) for key, text in self._texts.items()}
        return f"{type(self).__name__}({', '.join(f'{key}={text!r}' for key, text in shown.items())})"


def _restore(kind: type[_B], texts: Mapping[str, str]) -> _B:
    copy = object.__new__(kind)
    object.__setattr__(copy, "_texts", dict(texts))
    return copy


def to_text(value: Any) -> str:
    """Convert a Python value to the text that the option takes; the JVM checks the text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, timedelta):
        return f"{value // timedelta(milliseconds=1)}ms"
    if isinstance(value, datetime):
        return _instant(value)
    if isinstance(value, Mapping):
        return json.dumps(value, default=_instant)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(str(item) for item in value)
    return str(value)


def _instant(value: Any) -> str:
    if not isinstance(value, datetime):
        raise TypeError(f"{value!r} is not a position: use a text, a number, a datetime or a mapping of them")
    if value.tzinfo is None:
        raise TypeError(f"{value!r} has no time zone; add one, for example {value!r}.replace(tzinfo=timezone.utc)")
    return value.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
