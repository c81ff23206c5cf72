package org.sparkkinesis.model

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.suite.TimedSuite

/**
 * Checks the limits against values copied from the service's documentation. The emulator enforces what the connector
 * respects, so other tests would not detect a wrong limit.
 */
class KinesisQuotasSuite extends TimedSuite {
  import KinesisQuotas._

  private val noted = mutable.Set.empty[String]

  private def same(table: (String, String, Any)*): Unit = table.foreach { case (name, what, documented) =>
    noted += name
    assert(ours.get(name) == Some(documented), s"$name: $what")
  }

  /** Every limit of every group, by "Group.Name". */
  private lazy val ours: Map[String, Any] =
    Seq[Any](Request, Record, Shard, CallRate, Count, Lifetime, Billing).flatMap { group =>
      val name = group.getClass.getSimpleName.stripSuffix("$")
      group.getClass.getDeclaredFields.filterNot(_.getName.contains("$")).map { field =>
        s"$name.${field.getName}" -> group.getClass.getMethod(field.getName).invoke(group)
      }
    }.toMap

  test("the limits of requests are the documented ones") {
    same(
      ("Request.PutRecordsEntries", "records in one PutRecords", 500),
      ("Request.PutRecordsBytes", "bytes in one PutRecords: 10 MiB", 10485760),
      ("Request.GetRecordsLimit", "records in one GetRecords", 10000),
      ("Request.GetRecordsBytes", "bytes in one GetRecords: 10 MiB", 10485760),
      ("Request.ListShardsPage", "shards on a page of ListShards", 1000),
      ("Request.ListShardsMaxResults", "MaxResults of ListShards", 10000),
      ("Request.ListStreamsPage", "streams on a page of ListStreams", 100),
      ("Request.ListStreamConsumersPage", "consumers on a page of ListStreamConsumers", 100),
      ("Request.DescribeStreamShards", "shards in one DescribeStream", 100)
    )
  }

  test("the limits of records are the documented ones") {
    same(
      ("Record.PartitionKeyMinChars", "shortest key", 1),
      ("Record.PartitionKeyMaxChars", "longest key", 256),
      ("Record.DefaultMaxBytes", "record by default: 1 MiB", 1048576),
      ("Record.LargestMaxBytes", "greatest record: 10 MiB", 10485760),
      ("Record.MaxRecordSizeKiB", "MaxRecordSizeInKiB", 1024 to 10240)
    )
  }

  test("the throughput of a shard is the documented one") {
    same(
      ("Shard.WriteBytesPerSecond", "bytes written per second: 1 MiB", 1048576),
      ("Shard.WriteRecordsPerSecond", "records written per second", 1000),
      ("Shard.ReadBytesPerSecond", "bytes read per second: 2 MiB", 2097152),
      ("Shard.GetRecordsPerSecond", "GetRecords per second", 5),
      ("Shard.GetShardIteratorPerSecond", "GetShardIterator per second", 5),
      ("Shard.FanOutBytesPerSecond", "bytes pushed per second and consumer: 2 MiB", 2097152)
    )
  }

  test("the call rates are the documented ones") {
    same(
      ("CallRate.CreateStreamPerAccount", "CreateStream", 5),
      ("CallRate.DeleteStreamPerAccount", "DeleteStream", 5),
      ("CallRate.ListStreamsPerAccount", "ListStreams", 5),
      ("CallRate.DescribeStreamPerAccount", "DescribeStream", 10),
      ("CallRate.DescribeStreamSummaryPerAccount", "DescribeStreamSummary", 20),
      ("CallRate.UpdateShardCountPerAccount", "UpdateShardCount", 10),
      ("CallRate.DescribeLimitsPerAccount", "DescribeLimits", 1),
      ("CallRate.ListShardsPerStream", "ListShards", 1000),
      ("CallRate.DescribeStreamConsumerPerStream", "DescribeStreamConsumer", 20),
      ("CallRate.ConsumerChangePerStream", "Register-, Deregister- and ListStreamConsumers", 5),
      ("CallRate.ReshardPerStream", "SplitShard and MergeShards", 5),
      ("CallRate.StreamSettingPerStream", "retention, monitoring, encryption", 5),
      ("CallRate.TagsPerAccount", "tags", 5),
      ("CallRate.AccountSettingPerAccount", "account settings, warm throughput, policies", 5),
      ("CallRate.SubscribeToShardPerConsumerAndShard", "SubscribeToShard", 1)
    )
  }

  test("the maximum numbers of resources are the documented ones") {
    same(
      ("Count.ConsumersPerStream", "consumers of a stream", 20),
      ("Count.ConsumersPerStreamAdvantage", "consumers of a stream, On-demand Advantage", 50),
      ("Count.ConsumersCreatingAtOnce", "consumers CREATING", 5),
      ("Count.StreamsCreatingAtOnce", "streams CREATING", 5),
      ("Count.ShardsPerAccount", "shards of an account in the great regions", 20000),
      ("Count.ShardsByUpdateShardCount", "shards by UpdateShardCount", 10000),
      ("Count.UpdateShardCountPerDay", "UpdateShardCount per 24 hours", 10),
      ("Count.StreamModeSwitchesPerDay", "UpdateStreamMode per 24 hours", 2),
      ("Count.EncryptionChangesPerDay", "encryption changes per 24 hours", 25),
      ("Count.OnDemandInitialShards", "shards of a new on-demand stream", 4),
      ("Count.OnDemandStreams", "on-demand streams", 50),
      ("Count.TagsPerResource", "tags of a stream", 50)
    )
  }

  test("the lifetimes of iterators, tokens, subscriptions and records are the documented ones") {
    same(
      ("Lifetime.ShardIterator", "shard iterator", 300000.millis),
      ("Lifetime.NextToken", "token of a listing", 300000.millis),
      ("Lifetime.Subscription", "subscription", 300000.millis),
      ("Lifetime.SubscriptionTakeover", "takeover of a subscription", 5000.millis),
      ("Lifetime.IdleSubscriptionEvent", "event of an idle subscription", 5000.millis),
      ("Lifetime.OnDemandScaling", "on-demand stream splitting its shards", 15.minutes),
      ("Lifetime.RetentionDefault", "retention by default", 1.day),
      ("Lifetime.RetentionMin", "shortest retention", 1.day),
      ("Lifetime.RetentionMax", "longest retention", 365.days)
    )
  }

  test("the payload unit of the bill is 25 KB") {
    same(("Billing.PayloadUnitBytes", "PUT payload unit", 25600))
  }

  test("every limit is in this suite") {
    assert(ours.keySet.diff(noted).toSeq.sorted == Nil)
  }
}
