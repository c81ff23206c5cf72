package org.sparkkinesis.model

/**
 * Identifies a shard across several streams.
 *
 * @param stream
 *   ARN of the stream, or its name if the ARN is not known
 */
final case class StreamShard(stream: String, shard: ShardId) {

  /** Strings cache their hash codes. Planning looks up thousands of shards several times per second. */
  override def hashCode: Int = 31 * stream.hashCode + shard.value.hashCode

  /** @throws IllegalArgumentException if `stream` is neither a name nor an ARN */
  def ref: StreamRef = StreamRef.parse(
    stream
  ).getOrElse(throw new IllegalArgumentException(s"neither a stream name nor a stream ARN: '$stream'"))

  override def toString: String = s"$stream/$shard"
}
