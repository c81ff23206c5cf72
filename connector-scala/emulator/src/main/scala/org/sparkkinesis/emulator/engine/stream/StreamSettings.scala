package org.sparkkinesis.emulator.engine.stream

import org.sparkkinesis.model.KinesisQuotas

/**
 * The settings of a stream, with names and units of the API. `encryptionKey` is empty if the stream is not encrypted.
 * Records that arrived before `expiredBeforeMillis` expired under a shorter retention period and stay expired.
 */
final case class StreamSettings(
    onDemand: Boolean = false,
    retentionHours: Int = KinesisQuotas.Lifetime.RetentionDefault.toHours.toInt,
    maxRecordKiB: Int = KinesisQuotas.Record.DefaultMaxBytes / KinesisQuotas.KiB,
    encryptionKey: Option[String] = None,
    distributesItself: Boolean = false,
    warmThroughputMiBps: Option[Int] = None,
    shardMetrics: Set[String] = Set.empty,
    policy: Option[String] = None,
    expiredBeforeMillis: Long = 0
) {
  def modeName: String = if (onDemand) "ON_DEMAND" else "PROVISIONED"

  /** The encryption type of new records; null if the stream is not encrypted. */
  def encryptionType: String = if (encryptionKey.isDefined) "KMS" else null
  def maxRecordBytes: Int = maxRecordKiB * KinesisQuotas.KiB
  def retentionMillis: Long = retentionHours * 3600000L
}
