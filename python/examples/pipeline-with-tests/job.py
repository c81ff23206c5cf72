"""A job that counts the orders of each customer, written so that tests can call its parts."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_kinesis import KinesisSource


def orders(spark: SparkSession, source: KinesisSource) -> DataFrame:
    """Read the stream from its start: one row for each order."""
    rows = source.initial_position("trim_horizon").read_stream(spark)
    return rows.select(F.col("partitionKey").alias("customer"), F.col("data").cast("string").alias("item"))


def totals(rows: DataFrame) -> DataFrame:
    """Count the orders of each customer. Rows of a batch do as well as those of a stream."""
    return rows.groupBy("customer").agg(F.count("*").alias("total"))
