package org.sparkkinesis.config

import org.sparkkinesis.config.Origin._
import org.sparkkinesis.config.value.OptionType

/**
 * A behaviour of another connector that differs without an option that the user sets. `docs/migration.md` is generated
 * from this list.
 *
 * @param what
 *   the option or the subject, in Markdown
 * @param there
 *   the behaviour of the other connector, in Markdown
 * @param here
 *   the behaviour of this connector, in Markdown
 */
final case class Difference(origin: Origin, what: String, there: String, here: String)

object Difference {
  private val shardListing = "`10s`; the end of a parent shard announces its children at once"
  private val loss = "`true`: the query fails and tells what is lost"
  private val aggregates = "`false`: one record for each row; set `aggregation=true` to keep the aggregates of the KPL"
  private val ranges =
    "Each batch is an exact range in Spark's checkpoint, so a batch that runs again has the same records"
  private val buffer = s"memory of one executor, ${ReadOptions.SharedBufferPercent} % of its heap and at most " +
    s"`${OptionType.Bytes.show(ReadOptions.SharedBufferMaxBytes)}` by default; a larger value gets at most " +
    s"${ReadOptions.MaxBufferPercent} % of the heap, with a warning"
  private val columns = "`partitionKey`, `data`, `stream`, `shardId`, `sequenceNumber`, `approximateArrivalTimestamp`"

  val all: Seq[Difference] = Seq(
    Difference(
      Databricks,
      "`consumerName`",
      "begins with `databricks_`",
      "as it is written; `consumerNamePrefix` is empty"
    ),
    Difference(Databricks, "`fetchBufferSize`", "`20gb` for the cluster, not a strict bound", buffer),
    Difference(Databricks, "`maxFetchRate`", "`1.0` MB/s for each shard", "as fast as the quota of the service allows"),
    Difference(Databricks, "`minFetchPeriod`", "`400ms`", "`250ms`"),
    Difference(Databricks, "`requireConsumerDeregistration`", "`false`", "`true`"),
    Difference(Databricks, "`shardFetchInterval`", "`1s`", shardListing),
    Difference(Databricks, "`shardsPerTask`", "`5`", "as many as spread the shards over all cores"),
    Difference(Databricks, "format", "`kinesis` is built in", "use `aws-kinesis` on Databricks"),
    Difference(Awslabs, "`kinesis.failOnDataLoss`", "`false`", loss),
    Difference(Awslabs, "`kinesis.sink.aggregationEnabled`", "`true`", aggregates),
    Difference(Awslabs, "`kinesis.endpointUrl`", "required", "the endpoint of the region"),
    Difference(Awslabs, "`kinesis.describeShardInterval`", "`1s`", shardListing),
    Difference(
      Awslabs,
      "`kinesis.sink.recordTtl`",
      "a record is dropped after it",
      "the task fails; no record is dropped"
    ),
    Difference(Awslabs, "batches", "a metadata store holds where a task stopped", ranges),
    Difference(Awslabs, "columns", "`streamName`, and no `shardId`", columns),
    Difference(Qubole, "`kinesis.executor.aggregationEnabled`", "`true`", aggregates),
    Difference(Qubole, "`endpointUrl`", "that of `us-east-1`", "the endpoint of the region"),
    Difference(Qubole, "`kinesis.client.describeShardInterval`", "`1s`", shardListing),
    Difference(Qubole, "batches", "a batch that runs again may have other records", ranges),
    Difference(Qubole, "columns", "`streamName`, and no `shardId`", columns),
    Difference(
      Glue,
      "payload",
      "parsed by `classification` and `schema`",
      "the bytes in `data`, which the query parses"
    ),
    Difference(Glue, "`aggregationEnabled`", "`true`", aggregates),
    Difference(Glue, "`describeShardInterval`", "`1s`", shardListing),
    Difference(
      Glue,
      "`maxFetchRecordsPerShard`",
      "`100000` for each shard and batch",
      "no limit; `maxRecordsPerTrigger`"
    ),
    Difference(Glue, "`collectionMaxSize`", "`5m`", "`maxBatchBytes`, `10m`"),
    Difference(KinesisAsl, "API", "`KinesisInputDStream.builder`", "`spark.readStream.format(\"kinesis\")`"),
    Difference(KinesisAsl, "`initialPosition`", "a class, `KinesisInitialPositions.Latest`", "a text, `latest`"),
    Difference(KinesisAsl, "positions", "a DynamoDB table with the leases of KCL", "Spark's checkpoint"),
    Difference(KinesisAsl, "receivers", "one core of an executor for each receiver", "no receiver takes a core")
  )
}
