package org.sparkkinesis.aws.transport

import java.io.IOException
import java.util.{ArrayDeque, HashSet, LinkedHashSet}

import scala.concurrent.duration.FiniteDuration
import scala.jdk.CollectionConverters._

/**
 * The connections to one host. A connection carries one call at a time. The connection that was used last is used
 * first, so that the others become idle and are closed. Thread-safe.
 *
 * @param open
 *   begins to connect, and tells the pool the result by `connected` or `refused`
 * @param maxConnections
 *   further calls wait in their order
 * @param expire
 *   ends a waiting call at its deadline
 */
final private[transport] class ConnectionPool(
    open: ConnectionPool => Unit,
    maxConnections: Int,
    expire: HttpCall[_] => Unit
) {
  import ConnectionPool._

  // Guarded by this.
  private val connections = new HashSet[HttpConnection]
  private val idle = new ArrayDeque[HttpConnection]
  private val waiting = new LinkedHashSet[HttpCall[_]]
  private var connecting = 0
  private var isClosed = false

  def submit(call: HttpCall[_]): Unit = {
    call.waitsIn(this)
    var refusal = Option.empty[Throwable]
    val free = synchronized {
      val found = idle.pollLast()
      if (isClosed) refusal = Some(closed)
      else if (found == null)
        if (waiting.size < MaxWaiting) waiting.add(call)
        else refusal = Some(new IOException(s"$MaxWaiting calls already wait for one of $maxConnections connections"))
      found
    }
    if (refusal.isDefined) call.failUnsent(refusal.get)
    else if (free != null) free.start(call)
    else {
      expire(call)
      connectMore()
    }
  }

  /** Removes a call that waits no more. */
  def forget(call: HttpCall[_]): Unit = synchronized {
    waiting.remove(call)
    ()
  }

  /** Number of open connections. */
  def size: Int = synchronized(connections.size)

  /** A new connection, whose thread calls this. */
  def connected(connection: HttpConnection): Unit = {
    val isWanted = synchronized {
      connecting -= 1
      if (!isClosed) connections.add(connection)
      !isClosed
    }
    if (isWanted) released(connection) else connection.close()
  }

  /** A connection could not be opened. The call that has waited longest fails, unless another one is being opened. */
  def refused(reason: Throwable): Unit = {
    val failed = synchronized {
      connecting -= 1
      if (waiting.size > connecting) next() else null
    }
    if (failed != null) failed.abandon(reason)
    connectMore()
  }

  /** The connection's call has ended, and its thread calls this. */
  def released(connection: HttpConnection): Unit = {
    val call = synchronized {
      val found = next()
      if (found == null && !isClosed) idle.addLast(connection)
      found
    }
    if (call != null) connection.start(call)
  }

  /** The connection is closed. */
  def lost(connection: HttpConnection): Unit = {
    synchronized {
      connections.remove(connection)
      idle.remove(connection)
    }
    connectMore()
  }

  /** Closes the connections that were idle for this time. */
  def closeIdle(longest: FiniteDuration): Unit = {
    val now = System.nanoTime
    val old = synchronized {
      val found = idle.asScala.takeWhile(now - _.lastUse > longest.toNanos).toVector
      found.foreach(_ => idle.pollFirst())
      found
    }
    old.foreach(_.close())
  }

  /** Ends all calls and closes all connections. */
  def close(): Unit = {
    val (calls, open) = synchronized {
      isClosed = true
      val all = (waiting.asScala.toVector, connections.asScala.toVector)
      waiting.clear()
      idle.clear()
      all
    }
    calls.foreach(_.abandon(closed))
    open.foreach(_.end(closed))
  }

  /** Removes and returns the call that has waited longest, or null. */
  private def next(): HttpCall[_] = {
    val calls = waiting.iterator
    if (!calls.hasNext) null
    else {
      val call = calls.next()
      calls.remove()
      call
    }
  }

  private def connectMore(): Unit = {
    def isShort = synchronized {
      val more = !isClosed && connecting < waiting.size && connecting + connections.size < maxConnections
      if (more) connecting += 1
      more
    }
    while (isShort) open(this)
  }
}

private object ConnectionPool {

  /** Bounds the memory that waiting calls take. */
  val MaxWaiting = 100000

  def closed: IllegalStateException = new IllegalStateException("the client is closed")
}
