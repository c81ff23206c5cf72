package org.sparkkinesis.chaos.query

/** Options of the sources and sinks of chaos tests. */
object QueryOptions {

  /** The options with which a source or a sink reaches an emulator. */
  def connection(endpoint: String): Map[String, String] = Map(
    "endpoint" -> endpoint,
    "region" -> "us-east-1",
    "awsAccessKey" -> "test",
    "awsSecretKey" -> "test"
  )

  /** @param mode polling or efo */
  def consumer(mode: String): Map[String, String] =
    Map("consumerMode" -> mode) ++ (if (mode == "efo") Map("consumerName" -> "chaos") else Map.empty)

  /**
   * The options of a source that reads from the oldest record on. If it polls, it calls each shard often.
   *
   * @param mode
   *   polling or efo
   */
  def source(endpoint: String, mode: String): Map[String, String] = connection(endpoint) ++ consumer(mode) ++ Map(
    "initialPosition" -> "trim_horizon",
    "minFetchPeriod" -> "50ms",
    "maxFetchesPerSecond" -> "20"
  )
}
