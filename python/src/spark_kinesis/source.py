"""Reading a stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spark_kinesis._check import check
from spark_kinesis._generated import SourceMethods
from spark_kinesis._stream import texts_of
from spark_kinesis.errors import raising_conditions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from typing_extensions import Self, Unpack

    from spark_kinesis._generated import SourceKeywords


class KinesisSource(SourceMethods):
    """A stream, or several, to read from; every option is a keyword and a method.

    >>> KinesisSource("orders", region="eu-central-1").efo(consumer_name="etl").initial_position("trim_horizon")
    KinesisSource(region='eu-central-1', streamName='orders', consumerMode='efo', consumerName='etl', ...)
    """

    __slots__ = ()

    def __init__(self, stream: str | Sequence[str] | None = None, /, **keywords: Unpack[SourceKeywords]) -> None:
        """``stream`` is a name or an ARN, or several of one kind."""
        super().__init__(texts_of(type(self), stream, keywords))

    def polling(self) -> Self:
        """Fetch by GetRecords; shares the shards' 2 MiB/s with other readers."""
        return self.consumer_mode("polling")

    def efo(self, *, consumer_name: str | None = None, consumer_arn: str | None = None) -> Self:
        """Enhanced fan-out: 2 MiB/s a shard for this query alone, pushed.

        Give the name of a consumer to register or use, or the ARN of one that exists and is not this query's own.
        """
        if (consumer_name is None) == (consumer_arn is None):
            raise TypeError("efo() takes either consumer_name or consumer_arn")
        if consumer_name is not None:
            return self.consumer_mode("efo").consumer_name(consumer_name)
        return self.consumer_mode("efo").option("consumerARN", consumer_arn).registration("none")

    def read_stream(self, spark: SparkSession) -> DataFrame:
        """A streaming DataFrame; options are checked first."""
        check(self._texts, spark, "Source")
        with raising_conditions():
            return spark.readStream.format("kinesis").options(**self._texts).load()

    def read(self, spark: SparkSession) -> DataFrame:
        """What is in the stream from ``initial_position`` to ``ending_position``; options are checked first."""
        check(self._texts, spark, "Source")
        with raising_conditions():
            return spark.read.format("kinesis").options(**self._texts).load()
