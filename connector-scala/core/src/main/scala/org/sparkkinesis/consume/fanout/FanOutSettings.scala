package org.sparkkinesis.consume.fanout

import scala.concurrent.duration._

import org.sparkkinesis.model.KinesisQuotas

/**
 * How subscriptions are kept alive.
 *
 * @param silenceTimeout
 *   a subscription that was asked for an event and gives none for so long is replaced. Counts from the call itself, so it covers the first answer too.
 * @param eventsInFlight
 *   how many events are asked for at once, while there is demand and the prefetch buffer has room for more than one
 */
final case class FanOutSettings(
    silenceTimeout: FiniteDuration,
    eventsInFlight: Int
) {
  require(eventsInFlight >= 1, s"eventsInFlight must be at least 1, was $eventsInFlight")
}

object FanOutSettings {

  /** No option sets these. */
  val Standard: FanOutSettings =
    FanOutSettings(silenceTimeout = KinesisQuotas.Lifetime.IdleSubscriptionEvent * 7, eventsInFlight = 2)
}
