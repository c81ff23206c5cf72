package org.sparkkinesis.spark.coordinator

import org.sparkkinesis.model.StreamShard
import org.sparkkinesis.service.ServiceException

/** Ends the query because a consumer cannot read its shard. */
final class ShardFailed(val shard: StreamShard, val error: ServiceException)
    extends RuntimeException(s"$shard: ${error.getMessage}", error)
