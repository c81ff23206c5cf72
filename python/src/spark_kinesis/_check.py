"""The check of options by the JVM before a query starts, in classic sessions and through Spark Connect."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from spark_kinesis.errors import KinesisConnectorError, raising_conditions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def check(
    options: Mapping[str, str],
    spark: SparkSession,
    use: Literal["source", "sink"],
    service: Literal["kinesis", "firehose"] = "kinesis",
) -> None:
    """Raise KinesisConnectorError with the JVM's message if an option is wrong, and show the JVM's warnings.

    The jar has a format for each use, and the schema of the format is the result: its analysis fails with the
    error, or it has a column with a comment for each warning. No query runs, and no service is called.

    A declarative pipeline refuses every analysis while it collects its tables. It checks the options itself when it
    analyzes its graph, before any table is read.
    """
    if _in_pipeline():
        return
    with raising_conditions():
        try:
            schema = spark.read.format(f"{service}-{use}-options").options(**options).load().schema
        except Exception as error:
            # Spark 3.5 raises it as an error of Java.
            if "[DATA_SOURCE_NOT_FOUND]" not in str(error):
                raise
            raise KinesisConnectorError.of(
                "KINESIS_JAR_MISSING",
                where="on the class path of this session",
                reason="The session was created without it. Spark only logs that a jar does not exist.",
                fix="Create the session with configure_spark_with_kinesis(builder), or call add_kinesis_to(spark).",
            ) from error
    for field in schema:
        warnings.warn(field.metadata["comment"], stacklevel=3)


def _in_pipeline() -> bool:
    """Return whether this process collects the tables of a declarative pipeline."""
    # A caller with a session has imported pyspark; the rest of this package works without it.
    from pyspark.errors import PySparkException

    pipelines = sys.modules.get("pyspark.pipelines.graph_element_registry")
    if pipelines is None:
        return False
    try:
        pipelines.get_active_graph_element_registry()
    except PySparkException:
        return False
    return True
