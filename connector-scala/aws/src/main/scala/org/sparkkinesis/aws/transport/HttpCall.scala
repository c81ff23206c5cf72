package org.sparkkinesis.aws.transport

import java.util.concurrent.CancellationException

import org.sparkkinesis.aws.error.UnsentCall
import org.sparkkinesis.concurrent.AbortableFuture

/**
 * One request with its answer. `result` completes when the service can receive nothing more of the call. Its `cancel`
 * requests the end of the call, which then fails with a `CancellationException`. A failure before the service could
 * receive the whole request is an [[UnsentCall]]. Thread-safe.
 */
final private[transport] class HttpCall[A](
    val request: HttpRequest,
    reader: AnswerReader[A],
    val limit: TimeLimit
) {
  val result = new AbortableFuture[A](() => abandon(new CancellationException("The call was cancelled")))

  // Guarded by this.
  private var connection: HttpConnection = null
  private var pool: ConnectionPool = null
  private var isAbandoned = false

  /** Why the answer cannot be read. Only the connection's thread uses it. */
  private var failure: Throwable = null

  def waitsIn(waiting: ConnectionPool): Unit = synchronized { pool = waiting }

  /** Assigns the connection that sends the request. Returns false if the call was given up. */
  def begin(on: HttpConnection): Boolean = synchronized {
    if (!isAbandoned) connection = on
    !isAbandoned
  }

  /** Ends the call at its limit if it still waits. Otherwise, its connection does. */
  def expire(): Unit =
    if (synchronized(connection == null)) abandon(limit.exceeded("There was no free connection"))

  /** Ends the call with this failure, and with the connection if it has begun. */
  def abandon(reason: Throwable): Unit = {
    val isFirst = synchronized {
      val first = !isAbandoned
      isAbandoned = true
      first
    }
    if (isFirst) {
      if (connection != null) connection.abort(this, reason)
      else {
        if (pool != null) pool.forget(this)
        failUnsent(reason)
      }
    }
  }

  def head(answer: AnswerHead): Unit = reading(reader.begin(answer))
  def content(bytes: io.netty.buffer.ByteBuf): Unit = reading(reader.content(bytes))

  /** The rest of an answer that cannot be read is received, so that its connection can be used again. */
  private def reading(read: => Unit): Unit =
    if (failure == null)
      try read
      catch { case error: Throwable => failure = error }

  /** Completes the call when its whole answer has arrived. */
  def end(): Unit = {
    var answer: A = null.asInstanceOf[A]
    if (failure == null)
      try answer = reader.end()
      catch { case error: Throwable => failure = error }
    if (failure == null) {
      result.complete(answer)
      ()
    } else fail(failure)
  }

  /** The call fails before the service could receive the whole request. */
  def failUnsent(reason: Throwable): Unit = fail(new UnsentCall(reason))

  /** The call fails although the service may have received the request. */
  def fail(reason: Throwable): Unit = {
    result.completeExceptionally(reason)
    ()
  }
}
