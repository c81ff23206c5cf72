"""An option as data, and the check of a text against it, with the words that the JVM has for the same."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

Scope = Literal["connection", "read", "write"]
Kind = Literal["text", "flag", "whole", "real", "bytes", "duration", "choice", "pattern", "parsed"]

UNLIMITED = 2**63 - 1

_WHOLE = re.compile(r"[+-]?[0-9]+")
_REAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_BYTES = re.compile(r"([0-9]+)\s*(b|k|kb|kib|m|mb|mib|g|gb|gib)?", re.IGNORECASE)
_DURATION = re.compile(r"([0-9]{1,15})\s*(ms|s|min|m|h|d)?", re.IGNORECASE)
_SHIFTS = {"b": 0, "k": 10, "m": 20, "g": 30}
_MILLIS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "min": 60_000, "ms": 1}


@dataclass(frozen=True)
class Declaration:
    """One option. Bounds are bytes for sizes and milliseconds for durations."""

    key: str
    name: str
    scope: Scope
    expected: str
    kind: Kind
    default: str | None = None
    sensitive: bool = False
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    pattern: str = ""
    why: str = ""
    deprecated: tuple[tuple[str, str], ...] = ()

    @property
    def is_prefix(self) -> bool:
        """Whether the option takes every key that begins with its own, ``consumerARN.orders`` and so on."""
        return self.key.endswith(".*")

    def problem(self, text: str) -> str | None:
        """Why the text is not a value of this option; None when it is one, or when only the JVM can tell."""
        match self.kind:
            case "flag":
                return None if text.strip().lower() in ("true", "false") else "It is neither true nor false."
            case "choice":
                known = {choice.lower() for choice in self.choices}
                return None if text.strip().lower() in known else "It is none of the values that this option has."
            case "whole":
                return self._whole(text.strip())
            case "real":
                return self._real(text.strip())
            case "bytes":
                return self._bytes(text.strip(), text)
            case "duration":
                return self._duration(text.strip(), text)
        if not text:
            return "It is empty."
        if self.kind == "pattern" and re.fullmatch(self.pattern, text, re.ASCII) is None:
            return self.why
        return None

    def _outside(self, value: float) -> bool:
        low = -math.inf if self.minimum is None else self.minimum
        high = math.inf if self.maximum is None else self.maximum
        return not low <= value <= high

    def _whole(self, text: str) -> str | None:
        if _WHOLE.fullmatch(text) is None or not -UNLIMITED - 1 <= int(text) <= UNLIMITED:
            return "It is not a whole number."
        return f"{int(text)} is outside of {self.minimum} to {self.maximum}." if self._outside(int(text)) else None

    def _real(self, text: str) -> str | None:
        if _REAL.fullmatch(text) is None:
            return "It is not a number."
        outside = self._outside(float(text))
        return f"{text} is outside of {self.minimum} to {self.maximum}." if outside else None

    def _bytes(self, text: str, written: str) -> str | None:
        match = _BYTES.fullmatch(text)
        if match is None:
            return "It is not a size."
        unit = (match.group(2) or "b").lower()
        if self._outside(int(match.group(1)) << _SHIFTS[unit[0]]):
            return f"{written} is outside of {_show_bytes(self.minimum)} to {_show_bytes(self.maximum)}."
        return None

    def _duration(self, text: str, written: str) -> str | None:
        match = _DURATION.fullmatch(text)
        if match is None:
            return "It is not a duration."
        if self._outside(int(match.group(1)) * _MILLIS[(match.group(2) or "ms").lower()]):
            return f"{written} is outside of {_show_duration(self.minimum)} to {_show_duration(self.maximum)}."
        return None


def _show_bytes(bound: float | None) -> str:
    size = int(bound or 0)
    for unit in ("g", "m", "k"):
        if size and size % (1 << _SHIFTS[unit]) == 0:
            return f"{size >> _SHIFTS[unit]}{unit}"
    return str(size)


def _show_duration(bound: float | None) -> str:
    millis = int(bound or 0)
    for unit in ("d", "h", "m", "s"):
        if millis and millis % _MILLIS[unit] == 0:
            return f"{millis // _MILLIS[unit]}{unit}"
    return f"{millis}ms"
