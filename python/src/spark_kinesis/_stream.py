"""The stream and the keywords that a builder is made with, as options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spark_kinesis._builder import Builder, to_text
from spark_kinesis._generated import DECLARATIONS

_BY_NAME = {d.name: d for d in DECLARATIONS if not d.is_prefix}


def texts_of(kind: type[Builder], stream: str | Sequence[str] | None, keywords: Mapping[str, Any]) -> dict[str, str]:
    """The options that stand for the arguments of ``kind``; a keyword that is no option of it is a TypeError."""
    texts: dict[str, str] = {}
    if stream is not None:
        names = [stream] if isinstance(stream, str) else list(stream)
        are_arns = bool(names) and all(name.startswith("arn:") for name in names)
        texts["streamARN" if are_arns else "streamName"] = to_text(names)
    for name, value in keywords.items():
        if name not in _BY_NAME or not hasattr(kind, name):
            raise TypeError(f"{kind.__name__} has no option {name!r}")
        texts[_BY_NAME[name].key] = to_text(value)
    return texts
