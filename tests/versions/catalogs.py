"""Use tables of the connector in the session catalog of a lakehouse: see tests/versions/catalogs."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from spark_kinesis import KinesisEmulator, condition_of, configure_spark_with_kinesis

package, catalog, extension, own_format = sys.argv[1:]
folder = Path(tempfile.mkdtemp(prefix="catalogs"))
builder = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.jars.packages", package)
    .config("spark.sql.extensions", extension)
    .config("spark.sql.catalog.spark_catalog", catalog)
    .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
    .config("spark.sql.shuffle.partitions", "2")
)
if own_format == "iceberg":
    builder = builder.config("spark.sql.catalog.spark_catalog.type", "hadoop").config(
        "spark.sql.catalog.spark_catalog.warehouse", str(folder / "iceberg")
    )


def values(spark: SparkSession, table: str) -> list[int]:
    rows = spark.sql(f"SELECT CAST(CAST(data AS STRING) AS INT) FROM {table}").collect()
    return sorted(row[0] for row in rows)


def refusal(action: Callable[[], object]) -> AnalysisException:
    try:
        action()
    except AnalysisException as error:
        return error
    raise AssertionError("no error")


def abilities_of_spark_4(spark: SparkSession, rows: DataFrame) -> None:
    rows.writeTo("orders").append()
    assert values(spark, "orders WITH ('initialPosition' = 'latest')") == []
    stream = spark.readStream.option("initialPosition", "trim_horizon").table("orders")
    copy(stream)


def abilities_of_spark_35(spark: SparkSession, rows: DataFrame) -> None:
    """What Spark 3.5 refuses for tables of a session catalog, and what to write instead."""
    assert "Cannot write into v1 table" in str(refusal(lambda: rows.writeTo("orders").append()))
    rows.write.insertInto("orders")
    # Without the connector's rule, Spark would give a read the options of the one before.
    assert values(spark, "orders") == [1, 2, 3]
    read = spark.read.option("initialPosition", "latest")
    assert condition_of(refusal(lambda: read.table("orders"))) == "KINESIS_TABLE_OPTIONS_OF_READ"
    assert values(spark, "orders") == [1, 2, 3]
    streams = "spark.sql.catalog.streams"
    spark.conf.set(streams, "org.sparkkinesis.KinesisCatalog")
    for name, value in kinesis.connection.items():
        spark.conf.set(f"{streams}.{name}", value)
    assert spark.read.option("initialPosition", "latest").table("streams.default.orders").count() == 0
    copy(spark.readStream.option("initialPosition", "trim_horizon").table("streams.default.orders"))


def copy(stream: DataFrame) -> None:
    writer = stream.writeStream.format("kinesis").option("checkpointLocation", str(folder / "checkpoint"))
    writer.trigger(availableNow=True).toTable("copies").awaitTermination()


with KinesisEmulator(quotas=False) as kinesis:
    for stream in ("orders", "copies"):
        kinesis.create_stream(stream)
    spark = configure_spark_with_kinesis(builder).getOrCreate()
    here = f"region 'us-east-1', endpoint '{kinesis.endpoint}', awsAccessKey 'a', awsSecretKey 'b'"
    for stream in ("orders", "copies"):
        spark.sql(f"CREATE TABLE {stream} USING kinesis OPTIONS (streamName '{stream}', {here})")
    spark.sql("INSERT INTO orders VALUES ('k', CAST('1' AS BINARY))")
    spark.sql("INSERT INTO orders (data, partitionKey) VALUES ('2', 'k')")
    rows = spark.range(3, 4).selectExpr("'k' AS partitionKey", "CAST(id AS STRING) AS data")
    (abilities_of_spark_35 if spark.version.startswith("3.") else abilities_of_spark_4)(spark, rows)
    assert values(spark, "copies") == [1, 2, 3]
    assert values(spark, "orders") == [1, 2, 3]
    assert spark.sql("SELECT aggregated FROM orders").count() == 3

    # A table of the lakehouse beside those of the connector, in one statement with them.
    spark.sql(f"CREATE TABLE lake (id INT) USING {own_format}")
    spark.sql("INSERT INTO lake SELECT CAST(CAST(data AS STRING) AS INT) FROM orders")
    assert spark.sql("SELECT * FROM lake JOIN orders ON id = CAST(CAST(data AS STRING) AS INT)").count() == 3

    spark.sql("ALTER TABLE orders SET TBLPROPERTIES ('team' = 'x')")
    assert values(spark, "orders") == [1, 2, 3]
    statement = spark.sql("SHOW CREATE TABLE copies").head()[0]
    spark.sql("DROP TABLE copies")
    spark.sql(statement)
    assert values(spark, "copies") == [1, 2, 3]
    misspelt = "CREATE TABLE misspelt USING kinesis OPTIONS (streamNme 'x')"
    assert condition_of(refusal(lambda: spark.sql(misspelt))) == "KINESIS_OPTION_UNKNOWN"
    for table in ("orders", "copies", "lake"):
        spark.sql(f"DROP TABLE {table}")
    assert spark.sql("SHOW TABLES").count() == 0
    spark.stop()
    print("reads, writes, streams, options of queries, ALTER, SHOW CREATE TABLE, DROP, beside a table of", own_format)
