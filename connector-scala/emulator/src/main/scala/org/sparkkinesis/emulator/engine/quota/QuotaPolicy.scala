package org.sparkkinesis.emulator.engine.quota

/** The quotas that the emulator enforces and that users may scale or switch off, with their names. */
sealed abstract class Quota(val name: String)

object Quota {
  case object WriteBytes extends Quota("writeBytes")
  case object WriteRecords extends Quota("writeRecords")
  case object ReadBytes extends Quota("readBytes")
  case object GetRecordsCalls extends Quota("getRecordsCalls")
  case object GetShardIteratorCalls extends Quota("getShardIteratorCalls")
  case object FanOutBytes extends Quota("fanOutBytes")
  case object SubscribeCalls extends Quota("subscribeCalls")
  case object ControlPlaneCalls extends Quota("controlPlaneCalls")
  case object Consumers extends Quota("consumers")
  case object Streams extends Quota("streams")
  case object Shards extends Quota("shards")
  case object ChangesPerDay extends Quota("changesPerDay")

  /** This quota and the next two apply to the delivery streams of Amazon Data Firehose. */
  case object DeliveryBytes extends Quota("deliveryBytes")
  case object DeliveryRecords extends Quota("deliveryRecords")
  case object DeliveryRequests extends Quota("deliveryRequests")

  val all: Seq[Quota] = Seq(
    WriteBytes,
    WriteRecords,
    ReadBytes,
    GetRecordsCalls,
    GetShardIteratorCalls,
    FanOutBytes,
    SubscribeCalls,
    ControlPlaneCalls,
    Consumers,
    Streams,
    Shards,
    ChangesPerDay,
    DeliveryBytes,
    DeliveryRecords,
    DeliveryRequests
  )

  def parse(name: String): Option[Quota] = all.find(_.name == name)
}

/** The quotas that are enforced and their factors on the quotas of the service; 2 allows twice as much. */
final case class QuotaPolicy(scales: Map[Quota, Double], off: Set[Quota]) {
  def enforces(quota: Quota): Boolean = !off.contains(quota)
  def scale(quota: Quota): Double = scales.getOrElse(quota, 1.0)

  /** Returns the limit to enforce, or `None` if the quota is switched off. */
  def limit(quota: Quota, ofService: Double): Option[Double] =
    if (enforces(quota)) Some(ofService * scale(quota)) else None

  def scaled(quota: Quota, by: Double): QuotaPolicy = {
    require(by > 0, s"The scale of the quota ${quota.name} must be positive, but was $by.")
    copy(scales = scales.updated(quota, by), off = off - quota)
  }

  def without(quotas: Quota*): QuotaPolicy = copy(off = off ++ quotas)
}

object QuotaPolicy {
  val Service: QuotaPolicy = QuotaPolicy(Map.empty, Set.empty)
  val Off: QuotaPolicy = QuotaPolicy(Map.empty, Quota.all.toSet)
}
