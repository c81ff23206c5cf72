"""Writing to a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_kinesis._check import check
from spark_kinesis._generated import SinkKeywords, SinkMethods

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.readwriter import DataFrameWriter
    from pyspark.sql.streaming.readwriter import DataStreamWriter
    from typing_extensions import Unpack


class KinesisSink(SinkMethods):
    """A stream to write to; every option is a keyword and a method.

    >>> KinesisSink("counts", max_time_in_buffer="200ms").ordering("key")
    KinesisSink(streamName='counts', maxTimeInBuffer='200ms', ordering='key')
    """

    __slots__ = ()

    def __init__(self, stream: str | None = None, /, **keywords: Unpack[SinkKeywords]) -> None:
        """``stream`` is a name or an ARN. Leave it out if every row names its stream in the column ``stream``."""
        super().__init__(stream, keywords, SinkKeywords.__optional_keys__)

    def write_stream(self, df: DataFrame) -> DataStreamWriter:
        """Check the options and return the writer of a streaming DataFrame. It needs a checkpointLocation."""
        check(self._texts, df.sparkSession, "sink")
        return df.writeStream.format("kinesis").options(**self._texts)

    def write(self, df: DataFrame) -> DataFrameWriter:
        """Check the options and return the writer of a DataFrame; ``save()`` writes the rows."""
        check(self._texts, df.sparkSession, "sink")
        return df.write.format("kinesis").mode("append").options(**self._texts)
