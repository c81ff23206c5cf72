# Made from error-conditions.json; renew with: ./dev generate
"""Problem, cause and fix of each condition that this package raises itself. Not meant to be edited."""

from __future__ import annotations

from collections.abc import Mapping

CONDITIONS: Mapping[str, tuple[str, str, str]] = {
    "KINESIS_EMULATOR_FAILED": (
        "The Kinesis emulator {what}.",
        "{reason}",
        "{fix}",
    ),
    "KINESIS_JAR_MISSING": (
        "The connector's jar is missing: {where}.",
        "{reason}",
        "{fix}",
    ),
    "KINESIS_REAL_TIME_UNSUPPORTED": (
        "{setting} cannot be used in real-time mode.",
        "{reason}",
        "{fix}",
    ),
}
