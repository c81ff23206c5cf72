package org.sparkkinesis.emulator.engine.consumer

import scala.collection.mutable

import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.quota.{Quota, QuotaPolicy, TokenBucket}
import org.sparkkinesis.model.ConsumerStatus
import org.sparkkinesis.model.KinesisQuotas.{CallRate, Lifetime}

/** A running subscription, which its consumer can end. */
trait OpenSubscription {

  /** Ends the subscription with an exception in its event stream. */
  def fail(error: ServiceError): Unit

  /** Ends the subscription without an error. */
  def complete(): Unit
}

/** A registered consumer of a stream and its subscriptions, one for each shard. Thread-safe. */
final class RegisteredConsumer(val name: String, val arn: String, val createdMillis: Long, val conflictName: String) {
  import RegisteredConsumer._

  @volatile var status: ConsumerStatus = ConsumerStatus.Creating
  @volatile var tags: Map[String, String] = Map.empty
  private val slots = mutable.Map.empty[String, Slot]

  /**
   * Claims a shard for a new subscription and ends the previous subscription. The claim fails within five seconds
   * after the previous subscription was opened.
   *
   * @param policy
   *   whether the limit of one call per second for each shard is enforced
   */
  def claim(shard: String, subscription: OpenSubscription, now: Long, policy: QuotaPolicy): Unit = {
    val replaced = synchronized {
      val slot =
        slots.getOrElseUpdate(shard, new Slot(new TokenBucket(1, CallRate.SubscribeToShardPerConsumerAndShard, now)))
      val conflict = slot.current != null && now - slot.sinceMillis < Lifetime.SubscriptionTakeover.toMillis
      if (conflict) throw anotherIsActive(shard)
      if (policy.enforces(Quota.SubscribeCalls) && !slot.calls.tryTake(1, now))
        throw ServiceError.limitExceeded(s"Rate exceeded for consumer $arn and shard $shard.")
      val old = if (slot.ended) null else slot.current
      slot.current = subscription
      slot.ended = false
      slot.sinceMillis = now
      old
    }
    if (replaced != null) replaced.fail(anotherIsActive(shard))
  }

  /**
   * Records that a subscription has ended. Its shard may be claimed again five seconds after the subscription was
   * opened.
   */
  def released(shard: String, subscription: OpenSubscription): Unit = synchronized {
    slots.get(shard).foreach { slot => if (slot.current eq subscription) slot.ended = true }
  }

  def openSubscriptions: Int = synchronized(slots.values.count(s => s.current != null && !s.ended))

  /** Ends all subscriptions, since the consumer is deregistered. */
  def endAll(error: ServiceError): Unit = {
    val open = synchronized {
      val current = slots.values.filter(!_.ended).flatMap(s => Option(s.current)).toVector
      slots.clear()
      current
    }
    open.foreach(_.fail(error))
  }

  private def anotherIsActive(shard: String): ServiceError =
    ServiceError.resourceInUse(s"Another active subscription exists for this consumer: $conflictName:$shard:$name")
}

object RegisteredConsumer {
  final private class Slot(val calls: TokenBucket) {
    var current: OpenSubscription = _
    var ended = false
    var sinceMillis: Long = 0
  }
}
