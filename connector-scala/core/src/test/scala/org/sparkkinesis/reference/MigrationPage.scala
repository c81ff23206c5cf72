package org.sparkkinesis.reference

import org.sparkkinesis.config.ConnectorOptions

/** `docs/migration.md`: what the options of other connectors are called here. */
object MigrationPage {
  def text: String = introduction + rows.mkString("", "\n", "\n") + rest

  private def rows: Seq[String] =
    ConnectorOptions.all
      .flatMap(entry => entry.deprecated.map(old => (old.origin, old.name, entry.key)))
      .sorted
      .map { case (origin, name, key) => s"| $origin | `$name` | `$key` |" }

  private def introduction: String =
    s"""# Coming from another connector
       |
       |<!-- Made from the declarations in connector-scala/core; renew with: ${GeneratedFiles.Command} -->
       |
       |Queries written for the `kinesis` format of Databricks keep their option names and their columns. The names below, of
       |other connectors, are taken as well, with a warning that names the new one; their values are translated where they
       |differ (`SubscribeToShard` becomes `efo`, `AT_TIMESTAMP 2026-11-20T12:00:00Z` becomes the instant).
       |
       || Of | Their option | Here |
       ||---|---|---|
       |""".stripMargin

  private def rest: String =
    """
       |Checkpoints of other connectors cannot be taken over: they do not hold what a shard was read up to. Stop the old query,
       |note the time of the last record that it processed, and start with a new `checkpointLocation` and
       |`initialPosition` set to that time; rows that arrived at the same time may be seen twice.
       |
       |What has no counterpart, and why:
       |
       |- Metadata stores (`kinesis.metadataCommitterType`, `kinesis.metadataPath` and their like): every micro-batch is an exact
       |  range of sequence numbers in Spark's own offset log, so there is nothing else to keep.
       |- Idle times and fetch times for a batch (`kinesis.maxFetchTimeInMs`, `avoidEmptyBatches`): records are fetched before a
       |  batch is planned; a batch takes what is there, and no batch runs when nothing is.
       |""".stripMargin
}
