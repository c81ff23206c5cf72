package org.sparkkinesis.aws.transport

import io.netty.buffer.ByteBuf

/**
 * The status and the headers of an answer.
 *
 * @param headers
 *   finds the value of a header by its name, whose case does not count
 */
final private[aws] class AnswerHead(val status: Int, headers: String => Option[String]) {
  def header(name: String): Option[String] = headers(name)
  def isSuccessful: Boolean = status / 100 == 2

  /** The number of bytes of the content, or -1 if the answer does not tell it. */
  def contentLength: Long = header("Content-Length").flatMap(_.toLongOption).getOrElse(-1L)
}

/**
 * Reads one answer while it arrives. The transport calls it on one thread, and calls nothing more after an exception.
 */
private[aws] trait AnswerReader[A] {
  def begin(head: AnswerHead): Unit

  /** Reads the next bytes of the content. They are valid during the call only. */
  def content(bytes: ByteBuf): Unit

  /** Called when the whole answer has arrived. */
  def end(): A
}
