package org.sparkkinesis.spark.session

import org.sparkkinesis.error.{DataLossPolicy, ReadErrors}
import org.sparkkinesis.event.DataLost
import org.sparkkinesis.model.ShardId

/**
 * Reports records that the driver finds to be lost, as an event and by the query's policy.
 *
 * @param losses
 *   whether lost records end the query
 */
final private[session] class LossReports(session: StreamSession, losses: DataLossPolicy) {

  /**
   * Reports that records of a shard may be lost.
   *
   * @throws org.sparkkinesis.error.KinesisConnectorException
   *   KINESIS_DATA_LOSS
   */
  def lost(arn: String, shard: ShardId, reason: String, cause: String): Unit = {
    session.events.emit(DataLost(arn, shard, reason, losses.endsQuery))
    val stream = session.streams(arn).name
    losses.lost(ReadErrors.dataLoss(shard = shard.value, stream = stream, reason = reason, cause = cause))
  }
}
