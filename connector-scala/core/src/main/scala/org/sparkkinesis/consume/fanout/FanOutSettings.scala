package org.sparkkinesis.consume.fanout

import scala.concurrent.duration._

import org.sparkkinesis.model.KinesisQuotas

/**
 * Settings of subscriptions.
 *
 * @param silenceTimeout
 *   time without an event, while one is requested, after which a subscription is replaced. It starts with the call and
 *   so includes the first response.
 * @param eventsInFlight
 *   number of events to request at once while there is demand and the prefetch buffer has room for more than one; at
 *   least 1
 */
final case class FanOutSettings(
    silenceTimeout: FiniteDuration,
    eventsInFlight: Int
) {
  require(eventsInFlight >= 1, s"eventsInFlight must be at least 1, was $eventsInFlight")
}

object FanOutSettings {

  /** The settings of all queries. No option changes them. */
  val Standard: FanOutSettings =
    FanOutSettings(silenceTimeout = KinesisQuotas.Lifetime.IdleSubscriptionEvent * 7, eventsInFlight = 2)
}
