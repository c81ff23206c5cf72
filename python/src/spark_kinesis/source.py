"""Reading a stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spark_kinesis._check import check
from spark_kinesis._generated import SourceKeywords, SourceMethods
from spark_kinesis.metadata import LogicalStreamMethods

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from typing_extensions import Self, Unpack


class KinesisSource(LogicalStreamMethods, SourceMethods):
    """One or more streams to read; every option is a keyword and a method.

    >>> KinesisSource("orders", region="eu-central-1").efo(consumer_name="etl").initial_position("trim_horizon")
    KinesisSource(streamName='orders', region='eu-central-1', consumerMode='efo', consumerName='etl', ...)
    """

    __slots__ = ()
    _keywords = SourceKeywords
    _positional = "stream"

    def __init__(self, stream: str | Sequence[str] | None = None, /, **keywords: Unpack[SourceKeywords]) -> None:
        """``stream`` is a name, an ARN, or a list of names or of ARNs. Each option is a keyword."""
        super().__init__(stream, keywords)

    def update(self, options: Mapping[str, Any] | None = None, /, **keywords: Unpack[SourceKeywords]) -> Self:
        """Set several options: a mapping with the names that Spark has for them, and keywords."""
        return self._with_options(options, keywords)

    def polling(self) -> Self:
        """Fetch records with GetRecords, which shares 2 MiB/s per shard with other readers."""
        return self.consumer_mode("polling")

    def efo(self, *, consumer_name: str | None = None, consumer_arn: str | None = None) -> Self:
        """Fetch records by enhanced fan-out: the service pushes them, with 2 MiB/s per shard for this query alone.

        Give the name of a consumer to register or reuse, or the ARN of an existing consumer that this query must
        neither register nor deregister. Without both, the query registers a consumer with its own id as the name.
        """
        if consumer_name is not None and consumer_arn is not None:
            raise TypeError("efo() takes either consumer_name or consumer_arn")
        if consumer_arn is not None:
            return self.consumer_mode("efo").consumer_arn(consumer_arn).registration("none")
        return self.consumer_mode("efo").consumer_name(consumer_name)

    def read_stream(self, spark: SparkSession) -> DataFrame:
        """Check the options and return a streaming DataFrame."""
        check(self._texts, spark, "source")
        return spark.readStream.format("kinesis").options(**self._texts).load()

    def read(self, spark: SparkSession) -> DataFrame:
        """Check the options and return a DataFrame of the records from ``initial_position`` to ``ending_position``."""
        check(self._texts, spark, "source")
        return spark.read.format("kinesis").options(**self._texts).load()
