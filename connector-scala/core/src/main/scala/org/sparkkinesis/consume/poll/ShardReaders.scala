package org.sparkkinesis.consume.poll

import java.util.concurrent.ConcurrentHashMap

import org.sparkkinesis.model.StreamShard

/**
 * Counts, for each shard, the publishers that poll it now. Those of one JVM share the shard's quotas of calls and bytes, which hold for
 * all readers of the shard together. Thread-safe.
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

  /** At least 1, for the one who asks. */
  def count(shard: StreamShard): Int = math.max(1, counts.getOrDefault(shard, 1))
}

object ShardReaders {
  private val byService = new ConcurrentHashMap[String, ShardReaders]

  /**
   * The readers of this JVM at one service.
   *
   * @param service
   *   the endpoint, or nothing for the real service; the stream's ARN tells region and account
   */
  def at(service: String): ShardReaders = byService.computeIfAbsent(service, _ => new ShardReaders)
}
