package org.sparkkinesis.emulator.count

import java.util.concurrent.atomic.{AtomicInteger, LongAdder}
import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedDeque}

import scala.jdk.CollectionConverters._

/** What a call was: `shard` and `stream` are empty where the operation has none, `result` is `ok` or the error's type. */
final case class CallKey(operation: String, stream: String, shard: String, result: String)

/** How often each operation was called, by stream, shard and result. Thread-safe; counted when a call is answered. */
final class CallCounters {
  private val counts = new ConcurrentHashMap[CallKey, LongAdder]

  private val last = new ConcurrentLinkedDeque[(Long, CallKey)]
  private val lastCount = new AtomicInteger

  private[emulator] def add(key: CallKey, nowMillis: Long): Unit = {
    counts.computeIfAbsent(key, _ => new LongAdder).increment()
    last.addLast((nowMillis, key))
    if (lastCount.incrementAndGet() > CallCounters.Remembered) {
      last.pollFirst()
      lastCount.decrementAndGet()
    }
    ()
  }

  /** The latest calls with their times (epoch milliseconds), the newest last. */
  def recent: Vector[(Long, CallKey)] = last.asScala.toVector

  def snapshot: Map[CallKey, Long] = counts.asScala.view.mapValues(_.sum).toMap

  /** The calls that match what is given; an empty string matches everything. */
  def count(operation: String = "", stream: String = "", shard: String = "", result: String = ""): Long =
    snapshot.collect {
      case (key, n)
          if matches(operation, key.operation) && matches(stream, key.stream) && matches(shard, key.shard) &&
            matches(result, key.result) =>
        n
    }.sum

  private def matches(wanted: String, actual: String): Boolean = wanted.isEmpty || wanted == actual

  def reset(): Unit = counts.clear()
}

object CallCounters {
  val Ok = "ok"
  private val Remembered = 100
}
