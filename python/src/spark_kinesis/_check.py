"""The check of options before a query starts: the JVM's own where there is one, else by the generated declarations."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from spark_kinesis._generated import DECLARATIONS
from spark_kinesis.errors import KinesisConnectorError
from spark_kinesis.session import is_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Use = Literal["Source", "Sink", "Values"]

HIDDEN = "*********(redacted)"
# Name and password in front of the host of an address.
_USER_INFO = re.compile(r"//[^/@\s]*@", re.ASCII)
_SINGLE = {d.key.lower(): d for d in DECLARATIONS if not d.is_prefix}
_PREFIXES = {d.key.lower().removesuffix("*"): d for d in DECLARATIONS if d.is_prefix}
_DEPRECATED = {name.lower(): (d, origin) for d in DECLARATIONS for name, origin in d.deprecated}


def check(options: Mapping[str, str], spark: SparkSession | None = None, of: Use = "Values") -> None:
    """Raise KinesisConnectorError when an option is unknown or not valid; warn of deprecated names.

    The JVM also checks which options go together, for the use that is given.
    """
    if spark is not None and not is_connect(spark):
        _check_in_jvm(options, spark, of)
        return
    for key, text in options.items():
        _check_one(key, text)


def hide_secrets(options: Mapping[str, str]) -> dict[str, str]:
    """The same options with the values of sensitive ones hidden."""
    return {key: HIDDEN if _is_sensitive(key) else text for key, text in options.items()}


def _is_sensitive(key: str) -> bool:
    lower = key.lower()
    declaration = _SINGLE.get(lower) or _DEPRECATED.get(lower, (None, ""))[0]
    return declaration is not None and declaration.sensitive


def _check_in_jvm(options: Mapping[str, str], spark: SparkSession, of: Use) -> None:
    jvm: Any = spark._jvm
    entry = jvm.org.sparkkinesis.spark.table.OptionCheck
    if type(entry).__name__ == "JavaPackage":
        raise KinesisConnectorError.of(
            "KINESIS_JAR_MISSING",
            where="on the class path of this session",
            reason="The session was made without it, and a jar that does not exist is only logged by Spark.",
            fix="Make the session with configure_spark_with_kinesis(builder), or call add_kinesis_to(spark).",
        )
    problem = getattr(entry, f"problemOf{of}")(dict(options))
    if problem is not None:
        raise KinesisConnectorError.from_message(problem)
    for sentence in entry.warnings(dict(options)):
        warnings.warn(sentence, DeprecationWarning, stacklevel=4)


def _check_one(key: str, text: str) -> None:
    lower = key.lower()
    if lower in _DEPRECATED:
        # Its value may be one of the other connector's own, which the JVM translates.
        declaration, origin = _DEPRECATED[lower]
        sentence = f"Option '{key}' ({origin}) is deprecated here; use '{declaration.key}'."
        warnings.warn(sentence, DeprecationWarning, stacklevel=4)
        return
    found = _SINGLE.get(lower) or next(
        (d for prefix, d in _PREFIXES.items() if lower.startswith(prefix) and len(lower) > len(prefix)), None
    )
    if found is None:
        nearest = nearest_name(key, [d.key.removesuffix(".*") for d in DECLARATIONS])
        suggestion = f"Did you mean '{nearest}'?" if nearest else "See the reference of options for the names."
        raise KinesisConnectorError.of("KINESIS_OPTION_UNKNOWN", option=key, suggestion=suggestion)
    why = found.problem(text)
    if why is not None:
        value = HIDDEN if found.sensitive else _USER_INFO.sub("//", text)
        raise KinesisConnectorError.of(
            "KINESIS_OPTION_INVALID", option=key, value=value, reason=why, expected=found.expected
        )


def nearest_name(written: str, candidates: Iterable[str]) -> str | None:
    """The candidate with the fewest edits from ``written``; None when all are further than half its length."""
    edits, name = min(
        ((_distance(written.lower(), name.lower()), name) for name in candidates), key=lambda pair: pair[0]
    )
    return name if edits <= max(2, len(written) // 2) else None


def _distance(a: str, b: str) -> int:
    previous = list(range(len(b) + 1))
    for char in a:
        current = [previous[0] + 1]
        for j, other in enumerate(b):
            current.append(min(current[j] + 1, previous[j + 1] + 1, previous[j] + (char != other)))
        previous = current
    return previous[-1]
