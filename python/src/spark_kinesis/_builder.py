"""What the source's and the sink's builder share: options as texts, in a value that never changes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self

    from spark_kinesis.emulator import KinesisEmulator


class Builder:
    """Options under their Spark names. Every method gives a new builder; a builder can be shared and reused."""

    __slots__ = ("_texts",)
    _texts: Mapping[str, str]

    def __init__(self, texts: Mapping[str, str]) -> None:
        object.__setattr__(self, "_texts", dict(texts))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} never changes; its methods give a new one")

    def _with(self, key: str, value: Any) -> Self:
        copy = object.__new__(type(self))
        texts = {k: text for k, text in self._texts.items() if k.lower() != key.lower()}
        Builder.__init__(copy, {**texts, key: to_text(value)})
        return copy

    def option(self, key: str, value: Any) -> Self:
        """Set an option by its Spark name, as ``DataStreamReader.option`` does; any case, deprecated names too."""
        return self._with(key, value)

    def on_emulator(self, emulator: KinesisEmulator) -> Self:
        """Speak to an emulator instead of the service."""
        copy = self
        for key, text in emulator.connection.items():
            copy = copy._with(key, text)
        return copy

    def options(self) -> dict[str, str]:
        """The options as Spark takes them. They hold secrets, if any were set."""
        return dict(self._texts)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Builder) and other._texts == self._texts

    def __hash__(self) -> int:
        return hash(frozenset(self._texts.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), dict(self._texts))

    def __repr__(self) -> str:
        from spark_kinesis._check import hide_secrets

        shown = ", ".join(f"{key}={text!r}" for key, text in hide_secrets(self._texts).items())
        return f"{type(self).__name__}({shown})"


def _restore(kind: type[Builder], texts: Mapping[str, str]) -> Builder:
    copy = object.__new__(kind)
    Builder.__init__(copy, texts)
    return copy


def to_text(value: Any) -> str:
    """A Python value as the text that the option takes; what is no known type is left to the option's own check."""
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
        raise TypeError(f"{value!r} is no position: it has to be a text, a number, a datetime or a mapping of them")
    if value.tzinfo is None:
        raise TypeError(f"{value!r} has no time zone; give it one, for example {value!r}.replace(tzinfo=timezone.utc)")
    return value.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
