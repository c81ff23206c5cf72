package org.sparkkinesis.config

/** Every option that the connector takes, in the order of the reference. */
object ConnectorOptions {
  val all: Seq[ConfigEntry[_]] = ConnectionOptions.all ++ ReadOptions.all ++ WriteOptions.all ++ RetryOptions.all
}
