"""smoke_query.py ENDPOINT STREAM FOLDER LIMIT: copy what is in a stream to files, with its checkpoint in the folder.

Prints a line for each batch that is committed.
"""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession

from spark_kinesis import KinesisSource, configure_spark_with_kinesis

endpoint, stream, folder, limit = sys.argv[1:]
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
spark = configure_spark_with_kinesis(builder).getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
source = KinesisSource(stream, endpoint=endpoint, region="us-east-1", aws_access_key="a", aws_secret_key="b")
rows = source.initial_position("trim_horizon").max_records_per_trigger(int(limit)).read_stream(spark)
writer = rows.selectExpr("CAST(data AS STRING) AS text").writeStream.format("json")
query = (
    writer.option("path", f"{folder}/out")
    .option("checkpointLocation", f"{folder}/checkpoint")
    .trigger(availableNow=True)
    .start()
)
printed = 0
while not query.awaitTermination(1):
    for progress in query.recentProgress[printed:]:
        print(progress["batchId"], flush=True)
    printed = len(query.recentProgress)
spark.stop()
