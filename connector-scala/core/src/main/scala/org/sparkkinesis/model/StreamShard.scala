package org.sparkkinesis.model

/**
 * A shard among several streams.
 *
 * @param stream
 *   the stream's ARN, or its name where the ARN is not known
 */
final case class StreamShard(stream: String, shard: ShardId) {

  /** Strings keep theirs: planning looks thousands of shards up, several times a second. */
  override def hashCode: Int = 31 * stream.hashCode + shard.value.hashCode

  /** @throws IllegalArgumentException if `stream` is neither a name nor an ARN */
  def ref: StreamRef = StreamRef.parse(
    stream
  ).getOrElse(throw new IllegalArgumentException(s"neither a stream name nor a stream ARN: '$stream'"))

  override def toString: String = s"$stream/$shard"
}
