package org.sparkkinesis.emulator.engine.delivery

import org.sparkkinesis.emulator.engine.quota.{Quota, QuotaPolicy, TokenBucket}
import org.sparkkinesis.model.FirehoseQuotas
import org.sparkkinesis.model.FirehoseQuotas.Throughput

/** The throughput limits of one delivery stream, with a burst of one second. Thread-safe. */
final private[delivery] class DeliveryQuota(throughput: Throughput) {
  private var policy: QuotaPolicy = null
  private var requests = Option.empty[TokenBucket]
  private var records = Option.empty[TokenBucket]
  private var bytes = Option.empty[TokenBucket]

  def admitRequest(policy: QuotaPolicy, now: Long): Boolean = synchronized {
    follow(policy, now)
    requests.forall(_.tryTake(1, now))
  }

  def admitRecord(size: Int, policy: QuotaPolicy, now: Long): Boolean = synchronized {
    follow(policy, now)
    val admitted = records.forall(_.has(1, now)) && bytes.forall(_.has(size, now))
    if (admitted) {
      records.foreach(_.overdraw(1, now))
      bytes.foreach(_.overdraw(size, now))
    }
    admitted
  }

  /** Tests change the policy while the stream is in use. */
  private def follow(current: QuotaPolicy, now: Long): Unit = if (policy ne current) {
    // A bucket holds at least one request or record, so that a scaled quota never refuses all.
    def bucket(quota: Quota, perSecond: Int, atLeast: Int = 1): Option[TokenBucket] =
      current.limit(quota, perSecond).map(rate => new TokenBucket(math.max(atLeast, rate), rate, now))
    policy = current
    requests = bucket(Quota.DeliveryRequests, throughput.requestsPerSecond)
    records = bucket(Quota.DeliveryRecords, throughput.recordsPerSecond)
    bytes = bucket(Quota.DeliveryBytes, throughput.bytesPerSecond, FirehoseQuotas.Record.MaxBytes)
  }
}
