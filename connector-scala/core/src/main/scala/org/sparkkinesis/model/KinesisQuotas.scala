package org.sparkkinesis.model

import scala.concurrent.duration._

/**
 * Every limit of the service that this project uses, defined once.
 *
 * The emulator enforces these limits and the connector respects them. Sources: "Quotas and limits" and the API
 * reference of the Kinesis Data Streams developer guide (2026), and the announcement of 10 MiB records (2025-10-28).
 * Sizes are in bytes and rates are per second unless a name says otherwise.
 */
object KinesisQuotas {
  val KiB: Int = 1024
  val MiB: Int = 1024 * 1024

  /** Limits of one request and its response. */
  object Request {
    val PutRecordsEntries: Int = 500

    /** Total size of the data and partition keys of one PutRecords request. */
    val PutRecordsBytes: Int = 10 * MiB
    val GetRecordsLimit: Int = 10000
    val GetRecordsBytes: Int = 10 * MiB
    val ListShardsPage: Int = 1000
    val ListShardsMaxResults: Int = 10000
    val ListStreamsPage: Int = 100
    val ListStreamConsumersPage: Int = 100
    val DescribeStreamShards: Int = 100
  }

  /** Limits of one record. */
  object Record {
    val PartitionKeyMinChars: Int = 1
    val PartitionKeyMaxChars: Int = 256

    /** Size of data and partition key together, unless the stream's MaxRecordSizeInKiB is larger. */
    val DefaultMaxBytes: Int = 1 * MiB
    val LargestMaxBytes: Int = 10 * MiB
    val MaxRecordSizeKiB: Range.Inclusive = 1024 to 10240
  }

  /** Throughput of one open shard. */
  object Shard {
    val WriteBytesPerSecond: Int = 1 * MiB
    val WriteRecordsPerSecond: Int = 1000
    val ReadBytesPerSecond: Int = 2 * MiB
    val GetRecordsPerSecond: Int = 5
    val GetShardIteratorPerSecond: Int = 5

    /** Rate at which enhanced fan-out pushes to one consumer. */
    val FanOutBytesPerSecond: Int = 2 * MiB
  }

  /** Calls per second. The suffix of each name says what they are counted for. */
  object CallRate {
    val CreateStreamPerAccount: Int = 5
    val DeleteStreamPerAccount: Int = 5
    val ListStreamsPerAccount: Int = 5
    val DescribeStreamPerAccount: Int = 10
    val DescribeStreamSummaryPerAccount: Int = 20
    val UpdateShardCountPerAccount: Int = 10
    val DescribeLimitsPerAccount: Int = 1
    val ListShardsPerStream: Int = 1000
    val DescribeStreamConsumerPerStream: Int = 20
    val ConsumerChangePerStream: Int = 5
    val ReshardPerStream: Int = 5
    val StreamSettingPerStream: Int = 5
    val TagsPerAccount: Int = 5

    /** Account settings, warm throughput and resource policies. */
    val AccountSettingPerAccount: Int = 5
    val SubscribeToShardPerConsumerAndShard: Int = 1
  }

  /** Maximum numbers of resources. */
  object Count {
    val ConsumersPerStream: Int = 20

    /** The limit of accounts with On-demand Advantage. */
    val ConsumersPerStreamAdvantage: Int = 50
    val ConsumersCreatingAtOnce: Int = 5
    val StreamsCreatingAtOnce: Int = 5
    val ShardsPerAccount: Int = 20000
    val ShardsByUpdateShardCount: Int = 10000
    val UpdateShardCountPerDay: Int = 10
    val StreamModeSwitchesPerDay: Int = 2
    val EncryptionChangesPerDay: Int = 25
    val OnDemandInitialShards: Int = 4
    val OnDemandStreams: Int = 50
    val TagsPerResource: Int = 50
  }

  /** Lifetimes of resources and tokens. */
  object Lifetime {
    val ShardIterator: FiniteDuration = 5.minutes
    val NextToken: FiniteDuration = 300.seconds
    val Subscription: FiniteDuration = 5.minutes

    /**
     * Within this time of a successful SubscribeToShard, a second one is rejected. After it, the second one replaces
     * the first.
     */
    val SubscriptionTakeover: FiniteDuration = 5.seconds

    /** Approximate time between empty events of an idle subscription. */
    val IdleSubscriptionEvent: FiniteDuration = 5.seconds

    /** Approximate time for which an on-demand stream throttles excess writes until its shards are split. */
    val OnDemandScaling: FiniteDuration = 15.minutes
    val RetentionDefault: FiniteDuration = 24.hours
    val RetentionMin: FiniteDuration = 24.hours
    val RetentionMax: FiniteDuration = 8760.hours
  }

  /** Units of billing. */
  object Billing {

    /** Size of one PUT payload unit. A record is billed one unit for each 25 KB or part of it. */
    val PayloadUnitBytes: Int = 25 * KiB
  }
}
