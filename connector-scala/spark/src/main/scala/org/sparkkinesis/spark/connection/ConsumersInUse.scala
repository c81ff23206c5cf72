package org.sparkkinesis.spark.connection

import java.util.concurrent.ConcurrentHashMap

/**
 * Knows which read of this application uses which enhanced fan-out consumer. The service gives each shard of a consumer to one
 * subscriber: a second read would take the subscriptions from the first one, and both would stand still. Thread-safe.
 */
final class ConsumersInUse {

  /** Consumer's endpoint and ARN → the one who reads with it. */
  private val owners = new ConcurrentHashMap[(String, String), AnyRef]

  /** False if another one has it. Claiming twice does no harm. */
  def claim(endpoint: String, consumerArn: String, owner: AnyRef): Boolean = {
    val present = owners.putIfAbsent((endpoint, consumerArn), owner)
    present == null || (present eq owner)
  }

  def release(owner: AnyRef): Unit = {
    owners.values.removeIf(_ eq owner)
    ()
  }
}
