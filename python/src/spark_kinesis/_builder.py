"""The common part of the builders of sources and sinks: an immutable set of options, each stored as text."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, get_args, get_type_hints

from spark_kinesis._redaction import redacted
from spark_kinesis._values import to_text

if TYPE_CHECKING:
    from typing_extensions import Self

    from spark_kinesis.emulator import KinesisEmulator

_B = TypeVar("_B", bound="Builder")


class _Signature:
    """The signature of a builder with its options, for ``help``, ``inspect.signature`` and notebooks."""

    def __get__(self, instance: object, owner: type[Builder]) -> inspect.Signature:
        first = inspect.Parameter(
            owner._positional,
            inspect.Parameter.POSITIONAL_ONLY,
            default=None,
            annotation=get_type_hints(owner._keywords)[f"{owner._positional}_name"],
        )
        options = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            for name, annotation in get_type_hints(owner._keywords).items()
        ]
        return inspect.Signature([first, *options])


class Builder:
    """Options under their Spark names. Every method returns a new builder, so a builder can be shared and reused.

    The value None means that the option is not set.
    """

    __slots__ = ("_texts",)
    __signature__ = _Signature()
    _texts: Mapping[str, str]
    # Lower-case prefixes of the options whose names end in the name of a stream.
    _of_streams: ClassVar[frozenset[str]] = frozenset()
    # The keywords of the builder, and its one positional argument.
    _keywords: ClassVar[Any]
    _positional: ClassVar[str]

    def __init__(self, stream: str | Sequence[str] | None, keywords: Mapping[str, Any]) -> None:
        """Call the method of each keyword."""
        builder = self._copy({})
        if stream is not None:
            setter = self._setter_of(stream)
            if keywords.get(setter) is not None:
                raise TypeError(f"{type(self).__name__} gets the stream twice: as its first argument and as {setter}")
            builder = getattr(builder, setter)(stream)
            keywords = {name: value for name, value in keywords.items() if name != setter}
        object.__setattr__(self, "_texts", builder._updated(keywords)._texts)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; its methods return a new builder")

    def _setter_of(self, stream: str | Sequence[str]) -> str:
        """Return the method that takes the first argument: a name, an ARN, or a list of one of them."""
        several = isinstance(stream, Sequence) and not isinstance(stream, str)
        names = [name for name in (stream if several else [stream]) if isinstance(name, str)]
        arns = [name for name in names if name.startswith("arn:")]
        if arns and len(arns) < len(names):
            name = next(name for name in names if name not in arns)
            raise ValueError(
                f"{type(self).__name__} takes a list of names or a list of ARNs, not both: {name!r} is a name, and "
                f"{arns[0]!r} is an ARN. Write the ARN of each stream."
            )
        return f"{self._positional}_{'arn' if arns else 'name'}"

    def _updated(self, keywords: Mapping[str, Any]) -> Self:
        builder = self
        known = self._keywords.__optional_keys__
        for name, value in keywords.items():
            if name not in known:
                raise TypeError(f"{type(self).__name__} has no option {name!r}{_suggestion(name, known)}")
            builder = getattr(builder, name)(value)
        return builder

    def _copy(self, texts: Mapping[str, str]) -> Self:
        return _restore(type(self), texts)

    def _with(self, key: str, text: str | None) -> Self:
        texts = {k: old for k, old in self._texts.items() if self._folded(k) != self._folded(key)}
        return self._copy(texts if text is None else {**texts, key: text})

    def _folded(self, key: str) -> str:
        """Return the key in lower case, apart from the name of a stream, which is case-sensitive."""
        prefix = next((prefix for prefix in self._of_streams if key.lower().startswith(prefix)), None)
        return key.lower() if prefix is None else prefix + key[len(prefix) :]

    def _with_kind(self, key: str, value: Any, *kinds: type) -> Self:
        """Set an option to a value of one of these kinds."""
        return self._with(key, self._text(_python_name(key), value, kinds))

    def _with_of(self, key: str, name: str, value: Any, *kinds: type) -> Self:
        """Set the option of one of several streams, or another option that has a name in its key."""
        method = f"{_python_name(key)}_of"
        if not isinstance(name, str) or not name.strip():
            raise TypeError(f"{type(self).__name__}.{method} takes a name that is not empty before the value")
        return self._with(f"{key}.{name}", self._text(method, value, kinds))

    def _with_one(self, key: str, value: Any) -> Self:
        """Set the stream of a sink, which cannot have several."""
        items = value if isinstance(value, (list, tuple)) else [value]
        names = [name for item in items for name in (item.split(",") if isinstance(item, str) else [item])]
        if len(names) != 1:
            raise ValueError(
                f"{type(self).__name__}.{_python_name(key)} takes one stream, not {len(names)}. To write to several, "
                "leave it out, and name the stream of each row in the column 'stream'."
            )
        return self._with_kind(key, names[0], str)

    def _with_retry(
        self,
        operation: str,
        operations: Any,
        max_retries: int | None,
        backoff_base: str | int | timedelta | None,
        backoff_max: str | int | timedelta | None,
        backoff_exponent: float | None,
    ) -> Self:
        """Set the retry options of one of these operations. Those that are None stay as they are."""
        known = get_args(operations)
        if operation not in known:
            raise ValueError(
                f"{type(self).__name__} does not call the operation {operation!r}"
                f"{_suggestion(str(operation), known)} Its operations: {', '.join(known)}"
            )
        prefix = f"retry.{operation[0].lower()}{operation[1:]}"
        copy = self
        for name, keyword, value, kinds in (
            ("maxRetries", "max_retries", max_retries, (int,)),
            ("backoff.base", "backoff_base", backoff_base, (str, int, timedelta)),
            ("backoff.max", "backoff_max", backoff_max, (str, int, timedelta)),
            ("backoff.exponent", "backoff_exponent", backoff_exponent, (float,)),
        ):
            if value is not None:
                copy = copy._with(f"{prefix}.{name}", self._text(f"retry: {keyword}", value, kinds))
        return copy

    def _text(self, method: str, value: Any, kinds: Sequence[type] | None) -> str | None:
        try:
            return None if value is None else to_text(value, kinds)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{type(self).__name__}.{method} {error}") from None

    def option(self, key: str, value: Any) -> Self:
        """Set an option by its Spark name, as ``DataStreamReader.option`` does.

        The case of the name does not matter, and the names of other connectors are accepted.
        """
        return self._with(key, self._text(f"option({key!r})", value, None))

    def _with_options(self, options: Mapping[str, Any] | None, keywords: Mapping[str, Any]) -> Self:
        copy = self
        for key, value in (options or {}).items():
            copy = copy.option(key, value)
        return copy._updated(keywords)

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


def _python_name(key: str) -> str:
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", key).replace(".", "_").lower()


def _suggestion(name: str, known: Collection[str]) -> str:
    return "".join(f"; did you mean {match!r}?" for match in get_close_matches(name, known, n=1))
