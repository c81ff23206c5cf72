"""The texts that options take, made from Python values."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta, timezone
from numbers import Integral, Real
from operator import index
from typing import Any

_MILLISECOND = timedelta(milliseconds=1)


def to_text(value: Any, kinds: Sequence[type] | None = None) -> str:
    """Return the text of a value of one of these kinds; without kinds, of a value that any option takes.

    A text always passes, because the JVM checks it. Raise TypeError for a value of another kind, and ValueError for
    one that no text expresses. The errors do not contain the value, which may be secret.
    """
    if isinstance(value, str):
        return value
    if _is_bool(value):
        _expect(bool, value, kinds)
        return "true" if value else "false"
    if isinstance(value, Real):
        return _number(value, kinds)
    if isinstance(value, timedelta):
        _expect(timedelta, value, kinds)
        return _duration(value)
    if isinstance(value, datetime):
        _expect(datetime, value, kinds)
        return _instant(value)
    if isinstance(value, Mapping):
        _expect(Mapping, value, kinds)
        return json.dumps(_position(value))
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        _expect(Sequence, value, kinds)
        return _list(value)
    raise _unexpected(value, kinds)


def _is_bool(value: Any) -> bool:
    # The booleans of numpy are not numbers and not of the type bool.
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")


def _number(value: Real, kinds: Sequence[type] | None) -> str:
    # A time may be a number of milliseconds, as in the JVM.
    accepted = {int, float} if kinds is None else {int if kind is datetime else kind for kind in kinds}
    if not accepted & {int, float}:
        raise _unexpected(value, kinds)
    if not math.isfinite(value):
        raise ValueError("takes a finite number")
    whole = _whole(value)
    if whole is not None:
        return str(whole)
    if float in accepted:
        return repr(float(value))
    raise ValueError("takes a whole number" + _or_duration(kinds or ()))


def _whole(value: Real) -> int | None:
    """Return the whole number that the value is, as 1e6 is one; None if it has a fraction."""
    if isinstance(value, Integral):
        return index(value)
    number = float(value)
    return int(number) if number.is_integer() else None


def _or_duration(kinds: Sequence[type]) -> str:
    return " of milliseconds, a timedelta, or a text such as '1500ms'" if timedelta in kinds else ""


def _duration(value: timedelta) -> str:
    milliseconds = round(value / _MILLISECOND)
    if value and not milliseconds:
        raise ValueError("takes a duration of at least one millisecond")
    return f"{milliseconds}ms"


def _instant(value: datetime) -> str:
    if value.tzinfo is None:
        raise TypeError(f"{value!r} has no time zone; add one, for example {value!r}.replace(tzinfo=timezone.utc)")
    return value.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _position(value: Any) -> Any:
    """Return the value as JSON has it. Members of a mapping that are None are left out."""
    if isinstance(value, Mapping):
        members = {str(key): _position(member) for key, member in value.items() if member is not None}
        if not members:
            raise ValueError("takes a mapping with members; None leaves the option unset")
        return members
    if isinstance(value, datetime):
        return _instant(value)
    if isinstance(value, str):
        return value
    if isinstance(value, Real) and not _is_bool(value) and (whole := _whole(value)) is not None:
        return whole
    raise TypeError(f"a position is a text, a whole number, a datetime or a mapping of them, not {_kind_of(value)}")


def _list(items: Sequence[Any]) -> str:
    if not items:
        raise ValueError("takes a list with items; None leaves the option unset")
    for item in items:
        if not isinstance(item, str):
            raise TypeError(f"takes a list of texts, and one item is {_kind_of(item)}")
        if not item.strip():
            raise ValueError("takes a list of texts, and one item is empty")
        if "," in item:
            raise ValueError("takes a list of texts, and one item has a comma, which separates items")
    return ",".join(items)


def _expect(kind: type, value: Any, kinds: Sequence[type] | None) -> None:
    if kinds is not None and kind not in kinds:
        raise _unexpected(value, kinds)


def _unexpected(value: Any, kinds: Sequence[type] | None) -> TypeError:
    accepted = kinds or (str, bool, int, float, timedelta, datetime, Sequence, Mapping)
    words = [_WORDS[kind] for kind in accepted]
    text = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
    hint = "; write datetime(year, month, day, tzinfo=timezone.utc) for a date" if type(value) is date else ""
    return TypeError(f"takes {text}, not {_kind_of(value)}{hint}")


def _kind_of(value: Any) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"


_WORDS: Mapping[type, str] = {
    str: "a text",
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    timedelta: "a timedelta",
    datetime: "a datetime with a time zone",
    Sequence: "a list of texts",
    Mapping: "a mapping",
}
