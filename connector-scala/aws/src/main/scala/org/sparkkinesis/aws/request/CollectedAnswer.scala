package org.sparkkinesis.aws.request

import java.io.{ByteArrayInputStream, IOException}
import java.util.zip.{CRC32, GZIPInputStream}

import io.netty.buffer.ByteBuf

import org.sparkkinesis.aws.error.ForeignAnswers
import org.sparkkinesis.aws.http.BodyBytes
import org.sparkkinesis.aws.transport.{AnswerHead, AnswerReader}
import org.sparkkinesis.service.Operation

/**
 * A successful answer.
 *
 * @param contentType
 *   media type of the content, or an empty text if the service does not say it
 * @param content
 *   the content without compression
 */
final private[aws] case class ServiceAnswer(contentType: String, content: Array[Byte])

/**
 * Collects the content of one answer. Fails with the error that the service answered. A content with a wrong checksum
 * fails like a lost answer, because the service may have done what the request asks for.
 */
final private[aws] class CollectedAnswer(operation: Operation) extends AnswerReader[ServiceAnswer] {
  import CollectedAnswer._

  private var head: AnswerHead = null
  private var bytes: BodyBytes = null

  override def begin(answer: AnswerHead): Unit = {
    head = answer
    bytes = new BodyBytes(answer.contentLength)
  }

  override def content(part: ByteBuf): Unit = bytes.add(part)

  override def end(): ServiceAnswer = {
    val raw = bytes.toArray
    val isZipped = head.header("Content-Encoding").exists(_.equalsIgnoreCase("gzip"))
    val content = if (isZipped) new GZIPInputStream(new ByteArrayInputStream(raw)).readAllBytes() else raw
    ForeignAnswers.in(head.status, head.header).foreach(throw _)
    if (!head.isSuccessful) throw ErrorAnswer.of(operation, head.status, head.header, content)
    if (!isZipped && head.header("x-amz-crc32").exists(_ != checksum(raw).toString))
      throw new IOException("The checksum of the response is wrong")
    ServiceAnswer(head.header("Content-Type").getOrElse(""), content)
  }
}

private object CollectedAnswer {
  private def checksum(bytes: Array[Byte]): Long = {
    val crc = new CRC32
    crc.update(bytes)
    crc.getValue
  }
}
