"""Writing to a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_kinesis._check import check
from spark_kinesis._generated import SinkMethods
from spark_kinesis._stream import texts_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.readwriter import DataFrameWriter
    from pyspark.sql.streaming.readwriter import DataStreamWriter
    from typing_extensions import Unpack

    from spark_kinesis._generated import SinkKeywords


class KinesisSink(SinkMethods):
    """A stream to write to; every option is a keyword and a method.

    >>> KinesisSink("counts", max_time_in_buffer="200ms").ordering("key")
    KinesisSink(streamName='counts', maxTimeInBuffer='200ms', ordering='key')
    """

    __slots__ = ()

    def __init__(self, stream: str | None = None, /, **keywords: Unpack[SinkKeywords]) -> None:
        """``stream`` is a name or an ARN; leave it out when every row names its stream in the column ``stream``."""
        super().__init__(texts_of(type(self), stream, keywords))

    def write_stream(self, df: DataFrame) -> DataStreamWriter:
        """The writer of a streaming DataFrame, to be given a checkpointLocation; options are checked first."""
        check(self._texts, df.sparkSession, "Sink")
        return df.writeStream.format("kinesis").options(**self._texts)

    def write(self, df: DataFrame) -> DataFrameWriter:
        """The writer of a DataFrame, to be saved; options are checked first."""
        check(self._texts, df.sparkSession, "Sink")
        return df.write.format("kinesis").mode("append").options(**self._texts)
