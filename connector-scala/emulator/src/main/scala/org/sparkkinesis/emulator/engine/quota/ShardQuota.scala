package org.sparkkinesis.emulator.engine.quota

import org.sparkkinesis.model.KinesisQuotas
import org.sparkkinesis.model.KinesisQuotas.Shard

/**
 * One shard's write and read allowances. Guarded by the shard's lock.
 *
 * Writing: 1 MiB/s and 1,000 records/s, with a burst of one second, or of the largest record where the stream allows
 * records above 1 MiB. Reading: 5 calls/s; 2 MiB/s which one answer may overdraw, so that after a full answer of 10 MiB
 * the calls of the next five seconds are refused.
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

  /** Counts one GetRecords call, refused while an earlier answer is still being paid for. */
  def admitRead(now: Long): Boolean = readBytes.forall(_.has(0, now)) && readCalls.forall(_.tryTake(1, now))

  def readTaken(bytes: Long, now: Long): Unit = readBytes.foreach(_.overdraw(bytes.toDouble, now))
}
