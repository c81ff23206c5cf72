package org.sparkkinesis.consume.poll

import java.util.concurrent.ConcurrentHashMap

import org.sparkkinesis.model.StreamShard

/**
 * Counts the publishers that poll each shard. Publishers in one JVM share the quotas of a shard, which apply to all
 * readers of the shard together. Thread-safe.
 */
final class ShardReaders {
  private val counts = new ConcurrentHashMap[StreamShard, Integer]

  def join(shard: StreamShard): Unit = {
    counts.merge(shard, 1, (a, b) => a + b)
    ()
  }

  def leave(shard: StreamShard): Unit = {
    counts.computeIfPresent(shard, (_, count) => if (count == 1) null else count - 1)
    ()
  }

  /** Number of publishers that poll the shard, at least 1. */
  def count(shard: StreamShard): Int = math.max(1, counts.getOrDefault(shard, 1))
}

object ShardReaders {
  private val byService = new ConcurrentHashMap[String, ShardReaders]

  /**
   * Returns the counter of this JVM for one service.
   *
   * @param service
   *   the endpoint, or an empty text for AWS; stream ARNs identify region and account
   */
  def at(service: String): ShardReaders = byService.computeIfAbsent(service, _ => new ShardReaders)
}
