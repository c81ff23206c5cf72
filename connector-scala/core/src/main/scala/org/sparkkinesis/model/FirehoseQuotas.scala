package org.sparkkinesis.model

import org.sparkkinesis.model.KinesisQuotas.{KiB, MiB}

/**
 * Every limit of Amazon Data Firehose that this project uses, defined once. Sources: "Quota" in the developer guide of
 * Amazon Data Firehose and its API reference (2026). Sizes are in bytes and rates are per second.
 */
object FirehoseQuotas {

  /** Limits of one request. */
  object Request {
    val PutRecordBatchRecords: Int = 500
    val PutRecordBatchBytes: Int = 4 * MiB
    val ListDeliveryStreamsMax: Int = 10000
    val ListDeliveryStreamsDefault: Int = 10
  }

  /** Limits of one record, before base64 encoding. */
  object Record {
    val MaxBytes: Int = 1000 * KiB
  }

  /** Default quotas of one delivery stream with Direct PUT. AWS can raise them for an account. */
  final case class Throughput(recordsPerSecond: Int, requestsPerSecond: Int, bytesPerSecond: Int)

  object Throughput {
    private val largeRegions = Set("us-east-1", "us-west-2", "eu-west-1")

    def of(region: String): Throughput =
      if (largeRegions(region)) Throughput(500000, 2000, 5 * MiB) else Throughput(100000, 1000, 1 * MiB)
  }

  /** Calls per second and account of each control-plane operation. */
  val ControlCallsPerAccount: Int = 5

  val DeliveryStreamNameMaxChars: Int = 64

  /** Buffering of deliveries to Amazon S3: bounds and defaults of its hints. */
  object Buffering {
    val SizeInMBs: Range.Inclusive = 1 to 128
    val IntervalInSeconds: Range.Inclusive = 0 to 900
    val DefaultSizeInMBs: Int = 5
    val DefaultIntervalInSeconds: Int = 300
  }
}
