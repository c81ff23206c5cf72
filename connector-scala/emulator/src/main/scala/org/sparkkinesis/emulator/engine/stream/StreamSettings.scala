package org.sparkkinesis.emulator.engine.stream

import org.sparkkinesis.model.KinesisQuotas

sealed abstract class StreamStatus(val name: String)
object StreamStatus {
  case object Creating extends StreamStatus("CREATING")
  case object Active extends StreamStatus("ACTIVE")
  case object Updating extends StreamStatus("UPDATING")
  case object Deleting extends StreamStatus("DELETING")
}

/**
 * What can be set on a stream. Names and units are those of the API; `encryptionKey` is empty while not encrypted.
 * What arrived before `expiredBeforeMillis` fell out under an earlier, shorter retention, and does not come back.
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

  /** As records carry it: null when not encrypted. */
  def encryptionType: String = if (encryptionKey.isDefined) "KMS" else null
  def maxRecordBytes: Int = maxRecordKiB * KinesisQuotas.KiB
  def retentionMillis: Long = retentionHours * 3600000L
}
