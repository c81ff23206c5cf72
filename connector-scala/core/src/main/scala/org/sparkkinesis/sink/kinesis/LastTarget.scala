package org.sparkkinesis.sink.kinesis

/**
 * Remembers the target of the last record, because the next one mostly goes to the same stream. Used by one thread.
 *
 * @param find
 *   returns the target of a stream, and opens it if necessary
 * @tparam K
 *   names a stream
 */
final private[sink] class LastTarget[K <: AnyRef](find: K => StreamRouter.Target) {
  private var last: K = _
  private var target: StreamRouter.Target = null

  def of(stream: K): StreamRouter.Target = {
    if (stream ne last) {
      target = find(stream)
      last = stream
    }
    target
  }

  /** Forgets the target, because it is closed. */
  def forget(): Unit = {
    last = null.asInstanceOf[K]
    target = null
  }
}
