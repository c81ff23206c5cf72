package org.sparkkinesis.aws.transport

import io.netty.buffer.ByteBuf

/**
 * Reads one answer of HTTP/2 while it arrives. The transport calls it on one thread, except that a call that could not
 * be sent may end on another thread. The first end is the last callback.
 */
private[aws] trait StreamReader {
  def begin(head: AnswerHead): Unit

  /**
   * Reads the next bytes of the content. They are valid during the call only. The service sends no more than a window
   * of bytes until [[Http2Call.credit]].
   */
  def content(bytes: ByteBuf): Unit

  /** @param failure why the answer is not complete, or null if it is */
  def end(failure: Throwable): Unit
}

/** One request with its answer, on a stream of a connection. After `cancel`, its reader is not called. */
final private[aws] class Http2Call private[transport] (
    private[transport] val request: HttpRequest,
    reader: StreamReader
) {

  // Guarded by this.
  private var pool: Http2Pool = null
  @volatile private var connection: Http2Connection = null
  @volatile private var isOver = false

  // Only the connection's thread uses these.
  private var streamId = 0
  private var owed = 0

  /** Why the service ended the stream. */
  private[transport] var reason: Throwable = null

  /** Ends the call. The service learns of it, and may still send what it has sent already. */
  def cancel(): Unit = {
    val (sender, waiting) = synchronized {
      isOver = true
      (connection, pool)
    }
    if (sender != null) sender.reset(this) else if (waiting != null) waiting.forget(this)
  }

  /** Lets the service send as many bytes as have arrived since the last time. Called on the connection's thread. */
  def credit(): Unit = if (owed > 0) {
    val bytes = owed
    owed = 0
    connection.credit(streamId, bytes)
  }

  /** Runs `task` on the thread of the callbacks if the request has been sent. Otherwise, all callbacks come later. */
  def execute(task: Runnable): Unit = Option(connection).foreach(_.execute(task))

  private[transport] def waitsIn(waiting: Http2Pool): Unit = synchronized { pool = waiting }

  /** Assigns the connection that sends the request. Returns false if the call is over. */
  private[transport] def begin(on: Http2Connection): Boolean = synchronized {
    if (!isOver) connection = on
    !isOver
  }

  private[transport] def sentAs(id: Int): Unit = streamId = id
  private[transport] def stream: Int = streamId

  private[transport] def head(answer: AnswerHead): Unit = if (!isOver) reader.begin(answer)

  /** @param size number of bytes that count for flow control */
  private[transport] def received(bytes: ByteBuf, size: Int): Unit = {
    owed += size
    if (!isOver) reader.content(bytes)
  }

  /** Ends the call unless it is over. */
  private[transport] def end(failure: Throwable): Unit = {
    val isFirst = synchronized {
      val first = !isOver
      isOver = true
      first
    }
    if (isFirst) reader.end(failure)
  }
}
