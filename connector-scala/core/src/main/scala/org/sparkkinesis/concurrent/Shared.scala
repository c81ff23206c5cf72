package org.sparkkinesis.concurrent

import java.util.concurrent.atomic.AtomicBoolean

import scala.collection.mutable
import scala.concurrent.duration._

/**
 * Shares one value per key within a JVM. The first holder creates the value. The value is disposed of when nobody has
 * held it for the idle time. Thread-safe.
 *
 * @param create
 *   creates a value; called while a lock is held
 * @param later
 *   runs a task after a delay; not used if the idle time is zero
 */
final class Shared[K, A](create: K => A, dispose: A => Unit, idleTime: FiniteDuration, later: Shared.Later) {
  final private class Entry(val value: A) {
    var holders = 0

    /** Counts how often the value became idle. A scheduled disposal is void if the count has changed since. */
    var idleTimes = 0L
  }

  private val entries = mutable.HashMap.empty[K, Entry]

  def acquire(key: K): Shared.Hold[A] = synchronized {
    val entry = entries.getOrElseUpdate(key, new Entry(create(key)))
    entry.holders += 1
    new Shared.Hold(entry.value, () => release(key, entry))
  }

  /** Number of values, held or idle. */
  def size: Int = synchronized(entries.size)

  private def release(key: K, entry: Entry): Unit = {
    val mark = synchronized {
      entry.holders -= 1
      entry.idleTimes += 1
      Option.when(entry.holders == 0)(entry.idleTimes)
    }
    mark.foreach { idle =>
      if (idleTime == Duration.Zero) disposeOf(key, entry, idle)
      else later(idleTime, () => disposeOf(key, entry, idle))
    }
  }

  private def disposeOf(key: K, entry: Entry, mark: Long): Unit = {
    val isIdle = synchronized {
      val still = entry.holders == 0 && entry.idleTimes == mark
      if (still) entries -= key
      still
    }
    if (isIdle) dispose(entry.value)
  }
}

object Shared {
  type Later = (FiniteDuration, () => Unit) => Unit

  /** Permission to use a value until `close`. A second `close` has no effect. */
  final class Hold[A] private[Shared] (val value: A, release: () => Unit) extends AutoCloseable {
    private val isDone = new AtomicBoolean
    override def close(): Unit = if (isDone.compareAndSet(false, true)) release()
  }

  private lazy val timer = new SystemScheduler("kinesis-shared", 1, Some(10.seconds))

  /** Runs tasks on a daemon thread that exists while a task waits for its time. */
  val onTimer: Later = (delay, task) => {
    timer.schedule(delay)(task())
    ()
  }
}
