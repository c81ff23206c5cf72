package org.sparkkinesis.simulation.model

import scala.collection.mutable

import org.sparkkinesis.model.KinesisQuotas
import org.sparkkinesis.service.Operation

/**
 * Counts the calls and enforces the quotas: for each shard five GetRecords calls and 2 MiB per second, and five
 * GetShardIterator calls per second, 1 MiB of written records per second and as many of them as the settings say; for
 * each stream, consumer or account those of the control plane.
 */
final class CallLedger(writesPerSecond: Int, now: () => Long) {
  final private class Quotas {
    val calls = new CallQuota(
      KinesisQuotas.Shard.GetRecordsPerSecond.toDouble,
      KinesisQuotas.Shard.GetRecordsPerSecond.toDouble,
      now
    )
    val bytes = new CallQuota(
      KinesisQuotas.Shard.ReadBytesPerSecond.toDouble,
      KinesisQuotas.Shard.ReadBytesPerSecond.toDouble,
      now
    )
    val writes = new CallQuota(writesPerSecond.toDouble, writesPerSecond.toDouble, now)
    val writtenBytes = new CallQuota(
      KinesisQuotas.Shard.WriteBytesPerSecond.toDouble,
      KinesisQuotas.Shard.WriteBytesPerSecond.toDouble,
      now
    )
    val iterators = new CallQuota(
      KinesisQuotas.Shard.GetShardIteratorPerSecond.toDouble,
      KinesisQuotas.Shard.GetShardIteratorPerSecond.toDouble,
      now
    )
  }

  private val control = mutable.HashMap.empty[(Operation, String), CallQuota]
  private val shards = mutable.HashMap.empty[ModelShard, Quotas]
  private val subscriptions = mutable.HashMap.empty[(String, ModelShard), CallQuota]
  private val made = mutable.HashMap.empty[Operation, Int]
  private val refused = mutable.HashMap.empty[Operation, Int]

  def count(operation: Operation): Unit = made(operation) = made.getOrElse(operation, 0) + 1
  def total: Map[String, Int] = byName(made)
  def throttled: Map[String, Int] = byName(refused)

  def allowsIterator(shard: ModelShard): Boolean = noted(Operation.GetShardIterator, of(shard).iterators.take(1, 1))

  def allowsRecords(shard: ModelShard): Boolean =
    noted(Operation.GetRecords, of(shard).calls.take(1, 1) && of(shard).bytes.take(0, 0))

  /**
   * Takes a call from the quota of a stream, a consumer or an account.
   *
   * @param of
   *   the name of the stream, consumer or account
   */
  def allows(operation: Operation, of: String): Boolean = CallLedger.rates.get(operation).forall { rate =>
    noted(operation, control.getOrElseUpdate(operation -> of, new CallQuota(rate, rate, now)).take(1, 1))
  }

  /** Returns whether the shard accepts one more record. */
  def allowsPut(shard: ModelShard, bytes: Int): Boolean =
    of(shard).writes.take(1, 1) && of(shard).writtenBytes.take(bytes.toDouble, bytes.toDouble)

  /** Counts the bytes of an answer, which may overdraw the quota. */
  def answered(shard: ModelShard, bytes: Long): Unit = of(shard).bytes.overdraw(bytes.toDouble)

  /**
   * Counts a subscription of a consumer to a shard. One that comes too early, or while another one is open that may not
   * be replaced yet, counts as refused.
   */
  def subscribed(consumerArn: String, shard: ModelShard, isRefused: Boolean): Unit = {
    val quota = subscriptions.getOrElseUpdate(
      consumerArn -> shard,
      new CallQuota(
        KinesisQuotas.CallRate.SubscribeToShardPerConsumerAndShard.toDouble,
        KinesisQuotas.CallRate.SubscribeToShardPerConsumerAndShard.toDouble,
        now
      )
    )
    noted(Operation.SubscribeToShard, quota.take(1, 1) && !isRefused)
    ()
  }

  private def noted(operation: Operation, allowed: Boolean): Boolean = {
    if (!allowed) refused(operation) = refused.getOrElse(operation, 0) + 1
    allowed
  }

  private def byName(counts: collection.Map[Operation, Int]): Map[String, Int] =
    counts.iterator.map { case (operation, count) => operation.name -> count }.toMap

  private def of(shard: ModelShard): Quotas = shards.getOrElseUpdate(shard, new Quotas)
}

private object CallLedger {
  import KinesisQuotas.CallRate

  val rates: Map[Operation, Double] = Map[Operation, Int](
    Operation.DescribeStreamSummary -> CallRate.DescribeStreamSummaryPerAccount,
    Operation.ListShards -> CallRate.ListShardsPerStream,
    Operation.DescribeStreamConsumer -> CallRate.DescribeStreamConsumerPerStream,
    Operation.RegisterStreamConsumer -> CallRate.ConsumerChangePerStream,
    Operation.DeregisterStreamConsumer -> CallRate.ConsumerChangePerStream
  ).view.mapValues(_.toDouble).toMap
}
