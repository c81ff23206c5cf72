package org.sparkkinesis.spark.executor

import org.sparkkinesis.consume.ShardHead
import org.sparkkinesis.model.{ChildShard, SequenceNumber, StartingPosition, StreamShard}
import org.sparkkinesis.plan.realtime.{LiveShard, TaskEnd}

/** The consumers of one executor, as the tasks of real-time batches use them. Thread-safe. Only `deliver` blocks. */
trait LiveConsumers {

  /**
   * Records a time, in epoch milliseconds, that the service's clock has passed. The clock of this process may be wrong.
   */
  def heard(serviceMillis: Long): Unit

  /**
   * Gives shards to a task; its feed receives their events. A newer task takes them from an older one.
   *
   * @param areChildren
   *   whether the task begins them within its batch, after it has finished their parents
   */
  def claim(feed: LiveFeed, shards: Seq[LiveShard], areChildren: Boolean): Unit

  /** Returns the next records of a shard at or after `from`, or `None` if the shard is not read. */
  def head(shard: StreamShard, from: StartingPosition): Option[ShardHead]

  /** Drops the records that were handed over. */
  def release(shard: StreamShard, upTo: SequenceNumber): Unit

  /** Reports to the driver a finished shard of a task, of which these children wait for parents of other tasks. */
  def finished(shard: StreamShard, waiting: Seq[ChildShard]): Unit

  /**
   * Sends the end of an attempt of a task to the driver, and waits until the driver has it.
   *
   * @throws KinesisConnectorException
   *   KINESIS_REAL_TIME_DRIVER_UNREACHABLE
   */
  def deliver(epoch: Long, end: TaskEnd): Unit

  /** Ends a task. */
  def leave(feed: LiveFeed): Unit
}
