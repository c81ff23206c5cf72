"""Amazon Kinesis Data Streams for Spark Structured Streaming: typed builders, the jar, and an emulator."""

from spark_kinesis._version import __version__
from spark_kinesis.emulator import KinesisEmulator
from spark_kinesis.errors import KinesisConnectorError, condition_of
from spark_kinesis.firehose import FirehoseSink
from spark_kinesis.metadata import PhysicalStream, StreamMetadata
from spark_kinesis.session import add_kinesis_to, configure_spark_with_kinesis, jar_path, stop_gracefully
from spark_kinesis.sink import KinesisSink
from spark_kinesis.source import KinesisSource

__all__ = [
    "FirehoseSink",
    "KinesisConnectorError",
    "KinesisEmulator",
    "KinesisSink",
    "KinesisSource",
    "PhysicalStream",
    "StreamMetadata",
    "__version__",
    "add_kinesis_to",
    "condition_of",
    "configure_spark_with_kinesis",
    "jar_path",
    "stop_gracefully",
]
