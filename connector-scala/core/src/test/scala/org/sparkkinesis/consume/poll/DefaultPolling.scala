package org.sparkkinesis.consume.poll

import org.sparkkinesis.concurrent.Scheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.event.ConsumerMetrics
import org.sparkkinesis.retry.{RetryPolicies, RetryRules}
import org.sparkkinesis.service.KinesisService

/** Polling of one service with the default options, and with pauses of half their upper bound. */
object DefaultPolling {
  def of(
      service: KinesisService,
      scheduler: Scheduler,
      metrics: ConsumerMetrics,
      settings: PollingSettings = PollingSettings.of(Options.defaults)
  ): PollingPublisherFactory = new PollingPublisherFactory(
    _ => service,
    settings,
    RetryPolicies.of(Options.defaults),
    RetryRules.Default,
    scheduler,
    metrics,
    () => 0.5
  )
}
