package org.sparkkinesis.spark.coordinator

import org.sparkkinesis.error.{KinesisConnectorException, ReadErrors}
import org.sparkkinesis.event.DataLost
import org.sparkkinesis.model.StreamShard
import org.sparkkinesis.service.ServiceException

/** Ends the query because a consumer cannot read its shard. */
final class ShardFailed(val shard: StreamShard, val error: ServiceException)
    extends RuntimeException(s"$shard: ${error.getMessage}", error)

private[coordinator] object ShardFailed {

  /** Makes the error for a shard that no longer exists and was not read to its end. */
  def isGone(shard: StreamShard, error: ServiceException): KinesisConnectorException =
    ReadErrors.dataLoss(
      shard = shard.shard.value,
      stream = shard.stream,
      reason = DataLost.ShardIsGone,
      cause = s"The service removes a closed shard when its last record expires. Service message: ${error.detail}"
    ).causedBy(error)
}
