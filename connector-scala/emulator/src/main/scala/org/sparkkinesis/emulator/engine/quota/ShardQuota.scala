package org.sparkkinesis.emulator.engine.quota

import org.sparkkinesis.model.KinesisQuotas
import org.sparkkinesis.model.KinesisQuotas.Shard

/**
 * The write and read limits of one shard. The lock of the shard guards it.
 *
 * A shard takes 1 MiB/s and 1,000 records/s, with a burst of one second, or of the largest record if the stream
 * allows records above 1 MiB. It serves 5 GetRecords calls/s and 2 MiB/s. One answer may exceed the 2 MiB/s: after an
 * answer of 10 MiB, the calls of the next five seconds are throttled.
 */
final class ShardQuota(policy: QuotaPolicy, largeRecords: Boolean, now: Long) {
  private def bucket(quota: Quota, capacity: Double, perSecond: Double): Option[TokenBucket] =
    policy.limit(quota, perSecond).map(rate => new TokenBucket(capacity * rate / perSecond, rate, now))

  private val writeBurst = if (largeRecords) KinesisQuotas.Record.LargestMaxBytes else Shard.WriteBytesPerSecond
  private val writeBytes = bucket(Quota.WriteBytes, writeBurst, Shard.WriteBytesPerSecond)
  private val writeRecords = bucket(Quota.WriteRecords, Shard.WriteRecordsPerSecond, Shard.WriteRecordsPerSecond)
  private val readBytes = bucket(Quota.ReadBytes, Shard.ReadBytesPerSecond, Shard.ReadBytesPerSecond)
  private val readCalls = bucket(Quota.GetRecordsCalls, Shard.GetRecordsPerSecond, Shard.GetRecordsPerSecond)

  def admitWrite(bytes: Int, now: Long): Boolean = {
    val admitted = writeBytes.forall(_.has(bytes, now)) && writeRecords.forall(_.has(1, now))
    if (admitted) {
      writeBytes.foreach(_.overdraw(bytes, now))
      writeRecords.foreach(_.overdraw(1, now))
    }
    admitted
  }

  /** Counts one GetRecords call. Returns false while the calls or the bytes of earlier answers exceed the limits. */
  def admitRead(now: Long): Boolean = readBytes.forall(_.has(0, now)) && readCalls.forall(_.tryTake(1, now))

  def readTaken(bytes: Long, now: Long): Unit = readBytes.foreach(_.overdraw(bytes.toDouble, now))
}
