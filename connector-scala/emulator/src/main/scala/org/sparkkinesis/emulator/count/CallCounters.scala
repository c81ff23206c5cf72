package org.sparkkinesis.emulator.count

import java.util.concurrent.atomic.{AtomicInteger, LongAdder}
import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedDeque}

import scala.jdk.CollectionConverters._

/**
 * The properties by which calls are counted. `shard` and `stream` are empty if the operation has none; `result` is
 * `ok` or the error type. Account and region are those of the stream's ARN if the call names one, otherwise those of
 * the caller; they are empty for calls that were not admitted.
 */
final case class CallKey(
    operation: String,
    stream: String,
    shard: String,
    result: String,
    account: String = "",
    region: String = ""
)

/** Counts calls by operation, stream, shard and result when they are answered. Thread-safe. */
final class CallCounters {
  private val counts = new ConcurrentHashMap[CallKey, LongAdder]

  /** The `User-Agent` of the last call of each operation. */
  private val agents = new ConcurrentHashMap[String, String]

  private val last = new ConcurrentLinkedDeque[(Long, CallKey)]
  private val lastCount = new AtomicInteger

  private[emulator] def add(key: CallKey, nowMillis: Long, userAgent: String = ""): Unit = {
    agents.put(key.operation, userAgent)
    counts.computeIfAbsent(key, _ => new LongAdder).increment()
    last.addLast((nowMillis, key))
    if (lastCount.incrementAndGet() > CallCounters.Remembered) {
      last.pollFirst()
      lastCount.decrementAndGet()
    }
    ()
  }

  /** The latest calls with their times in epoch milliseconds, the newest call last. */
  def recent: Vector[(Long, CallKey)] = last.asScala.toVector

  /** Returns the `User-Agent` of the last call of an operation; empty if it had none. */
  def userAgent(operation: String): Option[String] = Option(agents.get(operation)).filter(_.nonEmpty)

  def snapshot: Map[CallKey, Long] = counts.asScala.view.mapValues(_.sum).toMap

  /** Returns the number of calls that match all given parameters. An empty string matches everything. */
  def count(
      operation: String = "",
      stream: String = "",
      shard: String = "",
      result: String = "",
      account: String = "",
      region: String = ""
  ): Long =
    snapshot.collect {
      case (key, n)
          if matches(operation, key.operation) && matches(stream, key.stream) && matches(shard, key.shard) &&
            matches(result, key.result) && matches(account, key.account) && matches(region, key.region) =>
        n
    }.sum

  private def matches(wanted: String, actual: String): Boolean = wanted.isEmpty || wanted == actual

  def reset(): Unit = counts.clear()
}

object CallCounters {
  val Ok = "ok"
  private val Remembered = 100
}
