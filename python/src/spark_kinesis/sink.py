"""Writing to a stream."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from spark_kinesis._check import check
from spark_kinesis._generated import SinkKeywords, SinkMethods
from spark_kinesis.errors import raising_conditions
from spark_kinesis.metadata import LogicalStreamMethods
from spark_kinesis.session import jvm_member

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.readwriter import DataFrameWriter
    from pyspark.sql.streaming.readwriter import DataStreamWriter
    from typing_extensions import Self, Unpack


class KinesisSink(LogicalStreamMethods, SinkMethods):
    """A stream to write to; every option is a keyword and a method.

    >>> KinesisSink("counts", max_time_in_buffer="200ms").ordering("key")
    KinesisSink(streamName='counts', maxTimeInBuffer='200ms', ordering='key')
    """

    __slots__ = ()
    _keywords = SinkKeywords
    _positional = "stream"

    def __init__(self, stream: str | None = None, /, **keywords: Unpack[SinkKeywords]) -> None:
        """``stream`` is a name or an ARN. Leave it out if every row names its stream in the column ``stream``.

        Each option is a keyword.
        """
        super().__init__(stream, keywords)

    def update(self, options: Mapping[str, Any] | None = None, /, **keywords: Unpack[SinkKeywords]) -> Self:
        """Set several options: a mapping with the names that Spark has for them, and keywords."""
        return self._with_options(options, keywords)

    def write_stream(self, df: DataFrame) -> DataStreamWriter:
        """Check the options and return the writer of a streaming DataFrame. It needs a checkpointLocation."""
        check(self._texts, df.sparkSession, "sink")
        return df.writeStream.format("kinesis").options(**self._texts)

    def real_time(self, df: DataFrame, every: str = "30 seconds", *, keep_allowlist: bool = False) -> DataStreamWriter:
        """Check the options and return a writer in Spark's real-time mode. It needs a checkpointLocation.

        ``every`` is the length of a batch; records are sent at once within it. The writer has the output mode
        ``update``. Records do not wait for their request to fill (``sendWhenIdle``, unless that option is set).
        Spark's own asynchronous progress is off, because Spark refuses it for this sink.

        In the session of the DataFrame, ``spark.sql.streaming.realTimeMode.allowlistCheck`` is set to ``false``:
        Spark's list of sinks for real-time mode has its own sinks only. Operators are then not checked either.

        With ``keep_allowlist``, that setting is left alone: the rows go through ``KinesisForeachWriter``, which is
        accepted by the check. It has no sink metrics, no dead-letter table and no logical streams, and needs a classic
        session that was started with ``configure_spark_with_kinesis()``.
        """
        options = {"sendWhenIdle": "true", "asyncProgressTrackingEnabled": "false", **self._texts}
        check(options, df.sparkSession, "sink")
        if keep_allowlist:
            writer = _with_foreach_of_jvm(df, options)
        else:
            df.sparkSession.conf.set("spark.sql.streaming.realTimeMode.allowlistCheck", "false")
            writer = df.writeStream.format("kinesis").options(**options)
        writer = writer.outputMode("update")
        if "realTime" in inspect.signature(writer.trigger).parameters:
            return writer.trigger(realTime=every)  # type: ignore[call-overload,no-any-return]
        return _with_trigger_of_jvm(writer, df.sparkSession, every)

    def write(self, df: DataFrame) -> DataFrameWriter:
        """Check the options and return the writer of a DataFrame; ``save()`` writes the rows."""
        check(self._texts, df.sparkSession, "sink")
        return df.write.format("kinesis").mode("append").options(**self._texts)


def _with_foreach_of_jvm(df: DataFrame, options: dict[str, str]) -> DataStreamWriter:
    """Set the connector's ForeachWriter, which only the JVM of a classic session has."""
    create = jvm_member(
        getattr(df.sparkSession, "_jvm", None),
        "org.sparkkinesis.KinesisForeachWriter",
        "of",
        setting="keep_allowlist",
        fix="Remove it, or use a classic session that was started with configure_spark_with_kinesis().",
    )
    writer = df.writeStream.option("asyncProgressTrackingEnabled", options["asyncProgressTrackingEnabled"])
    with raising_conditions():
        writer._jwrite = writer._jwrite.foreach(create(df._jdf.schema(), options))
    return writer


def _with_trigger_of_jvm(writer: DataStreamWriter, spark: SparkSession, every: str) -> DataStreamWriter:
    """Set the trigger of Spark 4.1, whose Python API lacks it. Needs a session without Spark Connect."""
    trigger = jvm_member(
        getattr(spark, "_jvm", None),
        "org.apache.spark.sql.streaming.Trigger",
        "RealTime",
        setting="This version of Spark, or Spark Connect with Spark 4.1,",
        reason="Real-time mode exists from Spark 4.1 on, and its Python API from Spark 4.2 on.",
        fix="Use Spark 4.2 or later, or write_stream() with another trigger.",
    )
    writer._jwrite = writer._jwrite.trigger(trigger(every))
    return writer
