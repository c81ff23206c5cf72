package org.sparkkinesis.aws.putrecords

import java.io.IOException
import java.nio.ByteBuffer

import org.reactivestreams.{Publisher, Subscriber, Subscription}

import org.sparkkinesis.aws.http.BodyBytes
import org.sparkkinesis.aws.record.{CborAnswers, UnreadableAnswer}

/**
 * Collects the content of a response and decodes it at its end. Its subscriber receives an empty response, or the whole
 * content if it cannot be decoded here. A content with a wrong checksum fails like a lost response, because the records
 * may be stored.
 */
final private[putrecords] class CollectedAnswer(content: Publisher[ByteBuffer], call: PutCall)
    extends Publisher[ByteBuffer] {
  override def subscribe(subscriber: Subscriber[_ >: ByteBuffer]): Unit = content.subscribe(new Collector(subscriber))

  final private class Collector(subscriber: Subscriber[_ >: ByteBuffer]) extends Subscriber[ByteBuffer] {
    private val collected = new BodyBytes(call.length)

    override def onSubscribe(subscription: Subscription): Unit = subscriber.onSubscribe(new Subscription {
      private var isRequested = false

      // The subscriber receives one buffer, for which all buffers of the content are needed.
      override def request(count: Long): Unit = if (count <= 0 || !isRequested) {
        isRequested = count > 0
        subscription.request(if (count > 0) Long.MaxValue else count)
      }
      override def cancel(): Unit = subscription.cancel()
    })

    override def onNext(bytes: ByteBuffer): Unit = collected.add(bytes)

    override def onError(error: Throwable): Unit = subscriber.onError(error)

    override def onComplete(): Unit = {
      val bytes = collected.toArray
      if (call.checksum.exists(_ != PutAnswer.checksum(bytes)))
        subscriber.onError(new IOException("The checksum of the response is wrong"))
      else {
        try call.decoded = Some(PutAnswer.read(bytes))
        catch { case _: UnreadableAnswer | _: IllegalArgumentException => call.decoded = None }
        subscriber.onNext(ByteBuffer.wrap(if (call.decoded.isDefined) CborAnswers.Empty else bytes))
        subscriber.onComplete()
      }
    }
  }
}
