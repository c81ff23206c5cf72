package org.sparkkinesis.aws.http

import java.util.concurrent.ThreadFactory
import java.util.concurrent.atomic.AtomicInteger

/** Creates named threads that do not keep the JVM alive. */
private[aws] object DaemonThreads {
  def named(name: String): ThreadFactory = {
    val count = new AtomicInteger
    task => {
      val thread = new Thread(task, s"$name-${count.incrementAndGet()}")
      thread.setDaemon(true)
      thread
    }
  }
}
