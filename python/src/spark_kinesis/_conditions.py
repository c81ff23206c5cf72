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
    "KINESIS_JAR_OF_OTHER_SPARK": (
        "The jar {jar} of the Kinesis connector is made for {made}, and this is {running}.",
        "Classes of one line of Spark cannot be linked with another one.",
        "Use the artifact {wanted} of the same version; the Python package selects it by the Spark beside it.",
    ),
    "KINESIS_REAL_TIME_UNSUPPORTED": (
        "{setting} cannot be used in real-time mode.",
        "{reason}",
        "{fix}",
    ),
}
