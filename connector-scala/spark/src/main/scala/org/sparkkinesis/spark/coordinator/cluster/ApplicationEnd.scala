package org.sparkkinesis.spark.coordinator.cluster

import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.{ConcurrentHashMap, CountDownLatch, TimeUnit}

import scala.collection.mutable
import scala.concurrent.duration._

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{SparkListener, SparkListenerApplicationEnd}

/**
 * Runs actions when a Spark application ends. Spark does not stop running queries then: it stops its context, at
 * `spark.stop()` or in its shutdown hook, and waits for its listeners meanwhile. The actions of all queries run at the
 * same time, so that the end takes a bounded time. Thread-safe.
 */
object ApplicationEnd {

  /** Maximum time for which the end of an application waits for the actions. */
  val Limit: FiniteDuration = 15.seconds

  private val applications = new ConcurrentHashMap[SparkContext, Actions]

  /** Runs the action at the end of the application, unless the returned value is closed before. */
  def run(context: SparkContext)(action: () => Unit): AutoCloseable = {
    val actions = synchronized {
      val actions = applications.computeIfAbsent(context, new Actions(_))
      actions.add(action)
      actions
    }
    // Spark holds a lock of its own while it waits for a listener, so none is held here.
    actions.listen()
    () => remove(context, actions, action)
  }

  /** The last query removes the listener, which would keep the class loader of a session with a jar of its own. */
  private def remove(context: SparkContext, actions: Actions, action: () => Unit): Unit = {
    val isLast = synchronized {
      val isLast = actions.remove(action)
      if (isLast) applications.remove(context, actions)
      isLast
    }
    if (isLast) actions.close()
  }

  final private class Actions(context: SparkContext) extends SparkListener with AutoCloseable {
    private val all = mutable.LinkedHashSet.empty[() => Unit]
    private val isBegun = new AtomicBoolean
    @volatile private var listening = Option.empty[SessionListener]

    def listen(): Unit =
      if (isBegun.compareAndSet(false, true)) listening = Some(new SessionListener(context, this))

    def add(action: () => Unit): Unit = synchronized(all += action): Unit

    /** Returns whether none is left. */
    def remove(action: () => Unit): Boolean = synchronized {
      all -= action
      all.isEmpty
    }

    override def close(): Unit = listening.foreach(_.close())

    override def onApplicationEnd(end: SparkListenerApplicationEnd): Unit = {
      applications.remove(context, this)
      val left = synchronized(all.toVector)
      val running = new CountDownLatch(left.size)
      left.foreach { action =>
        val thread = new Thread(
          () =>
            try action()
            finally running.countDown(),
          "kinesis-application-end"
        )
        thread.setDaemon(true)
        thread.start()
      }
      running.await(Limit.toMillis, TimeUnit.MILLISECONDS): Unit
    }
  }
}
