package org.sparkkinesis.model

import scala.concurrent.duration._

/**
 * Every limit of the service that this project relies on, once.
 *
 * The emulator enforces these figures and the connector respects them. Sources: "Quotas and limits" and the API
 * reference of the Kinesis Data Streams developer guide (2026), and the announcement of 10 MiB records (2025-10-28).
 * Sizes are bytes, rates are per second, unless a name says otherwise.
 */
object KinesisQuotas {
  val KiB: Int = 1024
  val MiB: Int = 1024 * 1024

  /** What one call may ask for and return. */
  object Request {
    val PutRecordsEntries: Int = 500

    /** Data and partition keys of one PutRecords together. */
    val PutRecordsBytes: Int = 10 * MiB
    val GetRecordsLimit: Int = 10000
    val GetRecordsBytes: Int = 10 * MiB
    val ListShardsPage: Int = 1000
    val ListShardsMaxResults: Int = 10000
    val ListStreamsPage: Int = 100
    val ListStreamConsumersPage: Int = 100
    val DescribeStreamShards: Int = 100
  }

  /** What one record may be. */
  object Record {
    val PartitionKeyMinChars: Int = 1
    val PartitionKeyMaxChars: Int = 256

    /** Data and partition key together, unless the stream's MaxRecordSizeInKiB says otherwise. */
    val DefaultMaxBytes: Int = 1 * MiB
    val LargestMaxBytes: Int = 10 * MiB
    val MaxRecordSizeKiB: Range.Inclusive = 1024 to 10240
  }

  /** What one open shard takes and gives. */
  object Shard {
    val WriteBytesPerSecond: Int = 1 * MiB
    val WriteRecordsPerSecond: Int = 1000
    val ReadBytesPerSecond: Int = 2 * MiB
    val GetRecordsPerSecond: Int = 5
    val GetShardIteratorPerSecond: Int = 5

    /** Pushed to one consumer by enhanced fan-out. */
    val FanOutBytesPerSecond: Int = 2 * MiB
  }

  /** Calls per second; "stream" and "account" say what they are counted for. */
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

  /** How many there may be. */
  object Count {
    val ConsumersPerStream: Int = 20

    /** With the account on On-demand Advantage. */
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

  /** How long things live. */
  object Lifetime {
    val ShardIterator: FiniteDuration = 5.minutes
    val NextToken: FiniteDuration = 300.seconds
    val Subscription: FiniteDuration = 5.minutes

    /** A second SubscribeToShard within this time of a successful one is refused; afterwards it takes over. */
    val SubscriptionTakeover: FiniteDuration = 5.seconds

    /** An idle subscription still gets an empty event about this often. */
    val IdleSubscriptionEvent: FiniteDuration = 5.seconds

    /** About how long an on-demand stream refuses what is too much for it until its shards are split. */
    val OnDemandScaling: FiniteDuration = 15.minutes
    val RetentionDefault: FiniteDuration = 24.hours
    val RetentionMax: FiniteDuration = 8760.hours
  }

  /** What is counted for the bill. */
  object Billing {

    /** One PUT payload unit: each record costs one for every 25 KB begun. */
    val PayloadUnitBytes: Int = 25 * KiB
  }
}
