"""Writing to a delivery stream of Amazon Data Firehose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_kinesis._check import check
from spark_kinesis._generated import FirehoseKeywords, FirehoseMethods

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.readwriter import DataFrameWriter
    from pyspark.sql.streaming.readwriter import DataStreamWriter
    from typing_extensions import Unpack


class FirehoseSink(FirehoseMethods):
    """A delivery stream to write to; every option is a keyword and a method.

    The rows have the payload of each record in the column ``data``. A delivery stream puts nothing between records,
    so rows for Amazon S3 usually end with a line break.

    >>> FirehoseSink("archive", max_time_in_buffer="5s").on_invalid_record("drop")
    FirehoseSink(deliveryStreamName='archive', maxTimeInBuffer='5s', onInvalidRecord='drop')
    """

    __slots__ = ()

    def __init__(self, delivery_stream: str | None = None, /, **keywords: Unpack[FirehoseKeywords]) -> None:
        """``delivery_stream`` is a name, which ``delivery_stream_name`` may also set."""
        named = {} if delivery_stream is None else {"delivery_stream_name": delivery_stream}
        super().__init__(None, {**named, **keywords}, FirehoseKeywords.__optional_keys__)

    def write_stream(self, df: DataFrame) -> DataStreamWriter:
        """Check the options and return the writer of a streaming DataFrame. It needs a checkpointLocation."""
        check(self._texts, df.sparkSession, "sink", "firehose")
        return df.writeStream.format("firehose").options(**self._texts)

    def write(self, df: DataFrame) -> DataFrameWriter:
        """Check the options and return the writer of a DataFrame; ``save()`` writes the rows."""
        check(self._texts, df.sparkSession, "sink", "firehose")
        return df.write.format("firehose").mode("append").options(**self._texts)
