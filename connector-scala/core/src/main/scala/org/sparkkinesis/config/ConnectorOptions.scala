package org.sparkkinesis.config

/** All options of the connector, in the order of the reference. */
object ConnectorOptions {
  val all: Seq[ConfigEntry[_]] = ConnectionOptions.all ++ NetworkOptions.all ++ ReadOptions.all ++
    MetadataOptions.all ++
    WriteOptions.all ++ RateLimitingOptions.all ++ RetryOptions.all
}
