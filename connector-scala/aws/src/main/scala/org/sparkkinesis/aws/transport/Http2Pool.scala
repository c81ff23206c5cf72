package org.sparkkinesis.aws.transport

import java.util.LinkedHashSet

import scala.collection.mutable

/**
 * The HTTP/2 connections to one host. Each carries as many calls as the service allows. Calls are spread over a few
 * connections, so that several threads decode their answers. Thread-safe.
 *
 * @param open
 *   begins to connect; the connection tells the pool the result
 * @param spread
 *   number of connections over which calls are spread
 */
final private[transport] class Http2Pool(open: Http2Pool => Unit, spread: Int) {
  import Http2Pool._

  // Guarded by this, also `calls` of the connections.
  private val usable = mutable.LinkedHashSet.empty[Http2Connection]
  private val waiting = new LinkedHashSet[Http2Call]
  private var connecting = 0

  def submit(call: Http2Call): Unit = {
    call.waitsIn(this)
    synchronized(waiting.add(call))
    assign()
    openMore()
  }

  /** Removes a call that waits no more. */
  def forget(call: Http2Call): Unit = synchronized {
    waiting.remove(call)
    ()
  }

  /** Number of connections that accept calls. */
  def size: Int = synchronized(usable.size)

  /** A new connection, whose thread calls this. */
  def connected(connection: Http2Connection): Unit = {
    synchronized {
      connecting -= 1
      usable += connection
    }
    assign()
    openMore()
  }

  /** A connection could not be opened. The calls for which there is no other one fail. */
  def refused(reason: Throwable): Unit = {
    synchronized(connecting -= 1)
    assign()
    val failed = synchronized {
      val all = if (connecting == 0) waiting.toArray(Array.empty[Http2Call]) else Array.empty[Http2Call]
      all.foreach(waiting.remove)
      all
    }
    failed.foreach(_.end(reason))
  }

  /** One of the connection's calls has ended. */
  def released(connection: Http2Connection): Unit = {
    synchronized(connection.calls -= 1)
    assign()
    openMore()
  }

  /** The connection accepts no more calls. */
  def retired(connection: Http2Connection): Unit = {
    synchronized(usable -= connection)
    openMore()
  }

  /** Retires a connection if it has no call. Returns whether it did. */
  def retiredIfUnused(connection: Http2Connection): Boolean =
    synchronized(connection.calls == 0 && usable.remove(connection))

  /** Gives the waiting calls to the connections with the fewest calls. */
  private def assign(): Unit = {
    val starts = synchronized {
      val found = Seq.newBuilder[(Http2Connection, Http2Call)]
      var next = leastBusy
      while (next != null && !waiting.isEmpty) {
        val calls = waiting.iterator
        found += next -> calls.next()
        calls.remove()
        next.calls += 1
        next = leastBusy
      }
      found.result()
    }
    starts.foreach { case (connection, call) => connection.start(call) }
  }

  /** The connection for the next call, or null. A connection that is being opened gets its share of the calls. */
  private def leastBusy: Http2Connection = if (usable.isEmpty) null
  else {
    val least = usable.minBy(_.calls)
    val share =
      if (connecting == 0) Int.MaxValue
      else divided(usable.iterator.map(_.calls).sum + waiting.size, usable.size + connecting)
    if (least.calls < math.min(least.maxCalls, share)) least else null
  }

  private def openMore(): Unit = {
    def isShort = synchronized {
      val calls = usable.iterator.map(_.calls).sum + waiting.size
      val wanted = math.min(spread, divided(calls, CallsBeforeSpread))
      // All are full.
      val isFull = connecting == 0 && !waiting.isEmpty
      val more = isFull || usable.size + connecting < wanted
      if (more) connecting += 1
      more
    }
    while (isShort) open(this)
  }

  private def divided(calls: Int, by: Int): Int = (calls + by - 1) / by
}

private object Http2Pool {

  /** Fewer calls are not worth a connection of their own. */
  val CallsBeforeSpread = 8
}
