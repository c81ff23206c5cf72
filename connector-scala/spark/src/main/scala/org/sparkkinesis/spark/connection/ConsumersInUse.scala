package org.sparkkinesis.spark.connection

import java.util.concurrent.ConcurrentHashMap

/**
 * Records which read of this application uses which enhanced fan-out consumer. The service gives each shard of a
 * consumer to one subscriber: a second read would take the subscriptions from the first one, and neither would
 * progress. Thread-safe.
 */
final class ConsumersInUse {

  /**
   * ARN of a consumer and creation time of its stream → the read that uses it. The time tells services apart that use
   * the same account number, as emulators do. Addresses do not count, because many lead to the same service.
   */
  private val owners = new ConcurrentHashMap[(String, Long), AnyRef]

  /** Claims the consumer for `owner`. Returns false if another owner has it. Repeated claims by one owner succeed. */
  def claim(consumerArn: String, streamCreationMillis: Long, owner: AnyRef): Boolean = {
    val present = owners.putIfAbsent((consumerArn, streamCreationMillis), owner)
    present == null || (present eq owner)
  }

  /** Releases every consumer of `owner`. */
  def release(owner: AnyRef): Unit = {
    owners.values.removeIf(_ eq owner)
    ()
  }
}
