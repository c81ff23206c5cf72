package org.sparkkinesis.emulator.engine.quota

import java.util.concurrent.ConcurrentHashMap

import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.model.FirehoseQuotas
import org.sparkkinesis.model.KinesisQuotas.{CallRate, Shard}

/** Enforces the rate limits of operations. Thread-safe. */
final class CallRates {
  import CallRates._

  private val buckets = new ConcurrentHashMap[String, TokenBucket]

  /**
   * Counts one call.
   *
   * @throws ServiceError
   *   if the rate is exceeded: ProvisionedThroughputExceeded for iterators, LimitExceeded for the other operations
   */
  def admit(operation: String, stream: String, shard: String, policy: QuotaPolicy, now: Long): Unit =
    Table.get(operation).foreach { rate =>
      policy.limit(rate.quota, rate.perSecond).foreach { perSecond =>
        val key = rate.scope match {
          case Scope.Account => rate.shared
          case Scope.Stream => s"${rate.shared}/$stream"
          case Scope.Shard => s"${rate.shared}/$stream/$shard"
        }
        val bucket =
          buckets.computeIfAbsent(s"$key*$perSecond", _ => new TokenBucket(math.max(1, perSecond), perSecond, now))
        val admitted = bucket.synchronized(bucket.tryTake(1, now))
        if (!admitted) throw refusal(rate, stream, shard)
      }
    }

  private def refusal(rate: Rate, stream: String, shard: String): ServiceError = rate.scope match {
    case Scope.Shard => ServiceError.throughputExceeded(s"Rate exceeded for shard $shard in stream $stream.")
    case Scope.Stream => ServiceError.limitExceeded(s"Rate exceeded for stream $stream.")
    case Scope.Account => ServiceError.limitExceeded("Rate exceeded for account.")
  }

  /** Removes the counts of a deleted stream. */
  def forget(stream: String): Unit = {
    buckets.keySet().removeIf(key => key.contains(s"/$stream*") || key.contains(s"/$stream/"))
    ()
  }
}

object CallRates {

  /** The resource that a rate limit applies to. */
  sealed trait Scope
  object Scope {
    case object Account extends Scope
    case object Stream extends Scope
    case object Shard extends Scope
  }

  /**
   * The rate limit of an operation.
   *
   * @param shared
   *   operations with the same value share one limit
   */
  final case class Rate(perSecond: Int, scope: Scope, shared: String, quota: Quota = Quota.ControlPlaneCalls)

  private def each(scope: Scope, perSecond: Int)(operations: String*): Seq[(String, Rate)] =
    operations.map(name => name -> Rate(perSecond, scope, name))

  val Table: Map[String, Rate] = (
    each(Scope.Account, CallRate.CreateStreamPerAccount)("CreateStream") ++
      each(Scope.Account, CallRate.DeleteStreamPerAccount)("DeleteStream") ++
      each(Scope.Account, CallRate.ListStreamsPerAccount)("ListStreams") ++
      each(Scope.Account, CallRate.DescribeStreamPerAccount)("DescribeStream") ++
      each(Scope.Account, CallRate.DescribeStreamSummaryPerAccount)("DescribeStreamSummary") ++
      each(Scope.Account, CallRate.UpdateShardCountPerAccount)("UpdateShardCount") ++
      each(Scope.Account, CallRate.DescribeLimitsPerAccount)("DescribeLimits") ++
      each(Scope.Account, CallRate.AccountSettingPerAccount)(
        "DescribeAccountSettings",
        "UpdateAccountSettings",
        "UpdateStreamWarmThroughput",
        "PutResourcePolicy",
        "GetResourcePolicy",
        "DeleteResourcePolicy"
      ) ++
      each(
        Scope.Account,
        CallRate.TagsPerAccount
      )("AddTagsToStream", "TagResource", "UntagResource", "ListTagsForResource") ++
      each(Scope.Account, FirehoseQuotas.ControlCallsPerAccount)(
        "CreateDeliveryStream",
        "DeleteDeliveryStream",
        "DescribeDeliveryStream",
        "ListDeliveryStreams"
      ) ++
      each(Scope.Stream, CallRate.ListShardsPerStream)("ListShards") ++
      each(Scope.Stream, CallRate.DescribeStreamConsumerPerStream)("DescribeStreamConsumer") ++
      each(Scope.Stream, CallRate.ConsumerChangePerStream)(
        "RegisterStreamConsumer",
        "DeregisterStreamConsumer",
        "ListStreamConsumers"
      ) ++
      each(Scope.Stream, CallRate.ReshardPerStream)("SplitShard", "MergeShards") ++
      each(Scope.Stream, CallRate.StreamSettingPerStream)(
        "IncreaseStreamRetentionPeriod",
        "DecreaseStreamRetentionPeriod",
        "EnableEnhancedMonitoring",
        "DisableEnhancedMonitoring",
        "ListTagsForStream",
        "RemoveTagsFromStream",
        "StartStreamEncryption",
        "StopStreamEncryption",
        "UpdateStreamMode",
        "UpdateMaxRecordSize"
      )
  ).toMap ++ Map(
    "GetShardIterator" ->
      Rate(Shard.GetShardIteratorPerSecond, Scope.Shard, "GetShardIterator", Quota.GetShardIteratorCalls)
  )
}
