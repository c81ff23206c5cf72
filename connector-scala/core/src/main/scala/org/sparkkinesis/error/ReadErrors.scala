package org.sparkkinesis.error

/**
 * Errors of reads: invalid checkpoints and positions, and lost records. Each method creates the error of one condition.
 */
object ReadErrors {
  private val OffsetInvalid = "KINESIS_OFFSET_INVALID"

  def checkpointOfOtherStream(checkpointStream: String, stream: String, reason: String): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_CHECKPOINT_OTHER_STREAM",
      "checkpointStream" -> checkpointStream,
      "stream" -> stream,
      "reason" -> reason
    )

  def checkpointUnwritable(location: String, reason: String): KinesisConnectorException =
    KinesisConnectorException("KINESIS_CHECKPOINT_UNWRITABLE", "location" -> location, "reason" -> reason)

  def offsetInvalid(reason: String, offset: String): KinesisConnectorException =
    KinesisConnectorException(OffsetInvalid, "reason" -> reason, "offset" -> offset)

  /** Whether the error is that of an offset that cannot be decoded. */
  def isOffsetInvalid(error: KinesisConnectorException): Boolean = error.condition == OffsetInvalid

  def streamRecreated(stream: String, checkpointCreation: String, creation: String): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_STREAM_RECREATED",
      "stream" -> stream,
      "checkpointCreation" -> checkpointCreation,
      "creation" -> creation
    )

  def versionsDiffer(driver: String, executorVersion: String, executor: String): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_VERSIONS_DIFFER",
      "driver" -> driver,
      "executorVersion" -> executorVersion,
      "executor" -> executor
    )

  def dataLoss(shard: String, stream: String, reason: String, cause: String): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_DATA_LOSS",
      "shard" -> shard,
      "stream" -> stream,
      "reason" -> reason,
      "cause" -> cause
    )

  def listingIncomplete(stream: String, from: String, to: String, times: Int): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_LISTING_INCOMPLETE",
      "stream" -> stream,
      "from" -> from,
      "to" -> to,
      "times" -> times.toString
    )

  def shardNotListed(shard: String, stream: String, times: Int): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_SHARD_NOT_LISTED",
      "shard" -> shard,
      "stream" -> stream,
      "times" -> times.toString
    )

  def shardUnknown(shard: String, stream: String, known: String): KinesisConnectorException =
    KinesisConnectorException("KINESIS_SHARD_UNKNOWN", "shard" -> shard, "stream" -> stream, "known" -> known)

  def consumersFailed(times: Int, executor: String, reason: String): KinesisConnectorException =
    KinesisConnectorException(
      "KINESIS_CONSUMERS_FAILED",
      "times" -> times.toString,
      "executor" -> executor,
      "reason" -> reason
    )
}
