package org.sparkkinesis.spark.coordinator

/**
 * A stream that does not exist any more, all of whose fetched records are planned.
 *
 * @param failure
 *   shows that it does not exist
 * @param isDrained
 *   whether every shard had no more records at its last fetch, which was shortly before the stream was missed
 */
final case class MissingStream(stream: String, failure: Throwable, isDrained: Boolean)
