"""Writing to a delivery stream of Amazon Data Firehose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from spark_kinesis._check import check
from spark_kinesis._generated import FirehoseKeywords, FirehoseMethods

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.readwriter import DataFrameWriter
    from pyspark.sql.streaming.readwriter import DataStreamWriter
    from typing_extensions import Self, Unpack


class FirehoseSink(FirehoseMethods):
    """A delivery stream to write to; every option is a keyword and a method.

    The rows have the payload of each record in the column ``data``. A delivery stream puts nothing between records,
    so rows for Amazon S3 usually end with a line break.

    >>> FirehoseSink("archive", max_time_in_buffer="5s").on_invalid_record("drop")
    FirehoseSink(deliveryStreamName='archive', maxTimeInBuffer='5s', onInvalidRecord='drop')
    """

    __slots__ = ()
    _keywords = FirehoseKeywords
    _positional = "delivery_stream"

    def __init__(self, delivery_stream: str | None = None, /, **keywords: Unpack[FirehoseKeywords]) -> None:
        """``delivery_stream`` is a name, which ``delivery_stream_name`` may also set. Each option is a keyword."""
        super().__init__(delivery_stream, keywords)

    def update(self, options: Mapping[str, Any] | None = None, /, **keywords: Unpack[FirehoseKeywords]) -> Self:
        """Set several options: a mapping with the names that Spark has for them, and keywords."""
        return self._with_options(options, keywords)

    def write_stream(self, df: DataFrame) -> DataStreamWriter:
        """Check the options and return the writer of a streaming DataFrame. It needs a checkpointLocation."""
        check(self._texts, df.sparkSession, "sink", "firehose")
        return df.writeStream.format("firehose").options(**self._texts)

    def write(self, df: DataFrame) -> DataFrameWriter:
        """Check the options and return the writer of a DataFrame; ``save()`` writes the rows."""
        check(self._texts, df.sparkSession, "sink", "firehose")
        return df.write.format("firehose").mode("append").options(**self._texts)
