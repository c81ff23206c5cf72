package org.sparkkinesis.spark.connection

import java.util.concurrent.ConcurrentHashMap

/**
 * Records which read of this application uses which enhanced fan-out consumer. The service gives each shard of a
 * consumer to one subscriber: a second read would take the subscriptions from the first one, and neither would
 * progress. Thread-safe.
 */
final class ConsumersInUse {

  /** Endpoint and ARN of a consumer → the read that uses it. */
  private val owners = new ConcurrentHashMap[(String, String), AnyRef]

  /** Claims the consumer for `owner`. Returns false if another owner has it. Repeated claims by one owner succeed. */
  def claim(endpoint: String, consumerArn: String, owner: AnyRef): Boolean = {
    val present = owners.putIfAbsent((endpoint, consumerArn), owner)
    present == null || (present eq owner)
  }

  /** Releases every consumer of `owner`. */
  def release(owner: AnyRef): Unit = {
    owners.values.removeIf(_ eq owner)
    ()
  }
}
