package org.sparkkinesis.emulator.engine.delivery

import java.util.concurrent.atomic.AtomicLong

import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.quota.QuotaPolicy
import org.sparkkinesis.model.FirehoseQuotas.{Buffering, Throughput}

/**
 * The destination of a delivery stream.
 *
 * @param isExtended
 *   whether the client configured it as an extended S3 destination
 * @param bufferMBs
 *   size at which a file ends, in MiB
 * @param bufferSeconds
 *   age at which a file ends
 */
final case class S3Destination(
    bucket: String,
    roleArn: String,
    prefix: String = "",
    isExtended: Boolean = true,
    bufferMBs: Int = Buffering.DefaultSizeInMBs,
    bufferSeconds: Int = Buffering.DefaultIntervalInSeconds
) {
  def bucketArn: String = s"arn:aws:s3:::$bucket"
}

/** The states of a delivery stream that the emulator has. */
sealed abstract class DeliveryStatus(val name: String)

object DeliveryStatus {
  case object Creating extends DeliveryStatus("CREATING")
  case object Active extends DeliveryStatus("ACTIVE")
  case object Deleting extends DeliveryStatus("DELETING")
}

/** A delivery stream with Direct PUT. A record is in a file of the store when its put is answered. Thread-safe. */
final class DeliveryStream(
    val name: String,
    account: String,
    region: String,
    val createdMillis: Long,
    val destination: S3Destination,
    store: DeliveryStore
) {
  @volatile private var current: DeliveryStatus = DeliveryStatus.Creating
  private val quota = new DeliveryQuota(Throughput.of(region))
  private val ids = new AtomicLong

  val arn: String = s"arn:aws:firehose:$region:$account:deliverystream/$name"
  def status: DeliveryStatus = current
  def activate(): Unit = current = DeliveryStatus.Active
  def delete(): Unit = current = DeliveryStatus.Deleting

  /** Delivered bytes and records, for the status page and tests. */
  val deliveredRecords = new AtomicLong

  def requireActive(): Unit = if (current != DeliveryStatus.Active)
    throw ServiceError.resourceNotFound(s"Firehose $name under account $account is not in the ACTIVE state.")

  /**
   * Counts one put request.
   *
   * @throws ServiceError
   *   ServiceUnavailableException if the stream has had too many requests
   */
  def admitRequest(policy: QuotaPolicy, now: Long): Unit =
    if (!quota.admitRequest(policy, now)) throw DeliveryStream.SlowDown

  /**
   * Delivers the records that the quotas admit. Returns the id of each record, or null for a refused one.
   *
   * @param records
   *   null for a record that is not delivered for another reason
   */
  def deliver(records: IndexedSeq[Array[Byte]], policy: QuotaPolicy, now: Long): IndexedSeq[String] = {
    val admitted = records.map(data => data != null && quota.admitRecord(data.length, policy, now))
    val taken = records.indices.filter(admitted).map(records)
    if (taken.nonEmpty) {
      store.append(this, taken, now)
      deliveredRecords.addAndGet(taken.size.toLong)
    }
    admitted.map(is => if (is) s"$name-${ids.incrementAndGet()}" else null)
  }
}

object DeliveryStream {

  /** The error of a call that exceeds the throughput of a delivery stream. */
  val SlowDown: ServiceError = new ServiceError(503, "ServiceUnavailableException", "Slow down.")
}

/** Destination of delivered records. Implementations are thread-safe. */
trait DeliveryStore extends AutoCloseable {

  /** Appends the records in order. They are readable when this returns. */
  def append(stream: DeliveryStream, records: IndexedSeq[Array[Byte]], nowMillis: Long): Unit

  /** Ends the current file of the stream, which was deleted. Its files stay. */
  def end(stream: DeliveryStream): Unit
}
