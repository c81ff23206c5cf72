package org.sparkkinesis.aws.getrecords

import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.CompletableFuture
import java.util.zip.CRC32

import scala.util.{Failure, Success, Try}

import io.netty.buffer.ByteBuf
import io.netty.util.concurrent.FastThreadLocal

import org.sparkkinesis.aws.record.{CborOutput, UnreadableAnswer}
import org.sparkkinesis.aws.request.{CollectedAnswer, KinesisEndpoints, RequestContent, SignedCalls}
import org.sparkkinesis.aws.transport.{AnswerHead, AnswerReader}
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.service.{Operation, RecordPage}

/** GetRecords calls in CBOR over the connector's own transport. It does not retry. Thread-safe. */
final private[aws] class GetRecordsClient(endpoints: KinesisEndpoints, calls: SignedCalls) {
  import GetRecordsClient._

  /** Returns the decoded response, or a failure if this package cannot decode what the service sent. */
  def get(stream: StreamRef, iterator: String, limit: Int): CompletableFuture[Try[RecordPage]] = {
    val body = content(stream, iterator, limit)
    val request = RequestContent(CborOutput.ContentType, body.array, body.length)
    calls.make(endpoints.ofStream(stream.arn), Target, request, new PageReader)
  }
}

private[getrecords] object GetRecordsClient {
  private val Target = "Kinesis_20131202.GetRecords"
  private val ShardIterator = CborOutput.name("ShardIterator")
  private val Limit = CborOutput.name("Limit")
  private val StreamArn = CborOutput.name("StreamARN")

  /** Encodes the content of a request. */
  def content(stream: StreamRef, iterator: String, limit: Int): CborOutput = {
    val position = iterator.getBytes(UTF_8)
    val arn = stream.arn.map(_.getBytes(UTF_8))
    val names = ShardIterator.length + Limit.length + StreamArn.length
    val body =
      new CborOutput(new Array[Byte](position.length + arn.fold(0)(_.length) + names + 4 * CborOutput.LongestHead))
    body.beginMap(if (arn.isEmpty) 2 else 3)
    body.copy(ShardIterator)
    body.text(position)
    body.copy(Limit)
    body.integer(limit)
    arn.foreach { of =>
      body.copy(StreamArn)
      body.text(of)
    }
    body
  }

  /** Netty reads from a socket into memory outside of the heap. It is decoded from arrays, one for each thread. */
  private val arrays = new FastThreadLocal[Array[Byte]] {
    override protected def initialValue(): Array[Byte] = new Array[Byte](64 * 1024)
  }

  /** Reads a plain CBOR answer while it arrives. Collects another answer, which may be an error or compressed. */
  final private class PageReader extends AnswerReader[Try[RecordPage]] {
    private var collected: CollectedAnswer = null
    private var answer: GetRecordsAnswer = null
    private var unreadable: Throwable = null
    private var expected = Option.empty[String]
    private val actual = new CRC32

    override def begin(head: AnswerHead): Unit =
      if (head.isSuccessful && head.header("Content-Type").exists(isCbor) && head.header("Content-Encoding").isEmpty) {
        answer = new GetRecordsAnswer(head.contentLength)
        expected = head.header("x-amz-crc32")
      } else {
        collected = new CollectedAnswer(Operation.GetRecords)
        collected.begin(head)
      }

    override def content(bytes: ByteBuf): Unit =
      if (collected != null) collected.content(bytes)
      else if (bytes.hasArray) {
        val from = bytes.arrayOffset + bytes.readerIndex
        add(bytes.array, from, from + bytes.readableBytes)
      } else {
        val array = arrays.get
        while (bytes.isReadable) {
          val count = math.min(bytes.readableBytes, array.length)
          bytes.readBytes(array, 0, count)
          add(array, 0, count)
        }
      }

    override def end(): Try[RecordPage] =
      if (collected != null) {
        val whole = collected.end()
        answer = new GetRecordsAnswer(whole.content.length.toLong)
        if (isCbor(whole.contentType)) reading(answer.add(whole.content, 0, whole.content.length))
        else unreadable = new UnreadableAnswer(s"The response has the content type '${whole.contentType}'")
        page()
      } else if (expected.exists(_ != actual.getValue.toString))
        Failure(new UnreadableAnswer("The checksum of the response is wrong"))
      else page()

    private def add(array: Array[Byte], from: Int, until: Int): Unit = {
      if (expected.isDefined) actual.update(array, from, until - from)
      if (unreadable == null) reading(answer.add(array, from, until))
    }

    private def reading(read: => Unit): Unit =
      try read
      catch { case error @ (_: UnreadableAnswer | _: IllegalArgumentException) => unreadable = error }

    private def page(): Try[RecordPage] =
      if (unreadable != null) Failure(unreadable)
      else
        try Success(answer.page())
        catch { case error @ (_: UnreadableAnswer | _: IllegalArgumentException) => Failure(error) }

    private def isCbor(contentType: String): Boolean = contentType.startsWith("application/x-amz-cbor")
  }
}
