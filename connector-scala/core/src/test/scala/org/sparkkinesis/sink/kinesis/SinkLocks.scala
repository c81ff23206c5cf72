package org.sparkkinesis.sink.kinesis

import java.lang.management.ManagementFactory
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.locks.{Condition, Lock, ReentrantLock}

import scala.jdk.CollectionConverters._

/**
 * Knows which locks of the sink the current thread holds: those of its writers, and all monitors of its classes except
 * the one with which a rig of a test opens its sink.
 */
final class SinkLocks {
  private val writers = new ConcurrentLinkedQueue[Lock]

  /** The parameter of this name of a [[SinkProcess]]. */
  val newCondition: Lock => Condition = lock => {
    writers.add(lock)
    lock.newCondition()
  }

  private def isOfSink(name: String): Boolean = name.startsWith("org.sparkkinesis.sink.") && !name.endsWith("$Rig")

  def held: Seq[String] = {
    val own = writers.asScala.collect { case lock: ReentrantLock if lock.isHeldByCurrentThread => "a writer's lock" }
    val ids = Array(Thread.currentThread.getId)
    val monitors = ManagementFactory.getThreadMXBean.getThreadInfo(ids, true, false).toSeq.flatMap(_.getLockedMonitors)
    own.toSeq ++ monitors.map(_.getClassName).filter(isOfSink)
  }
}
