package org.sparkkinesis.aws.putrecords

import java.nio.ByteBuffer
import java.util.Optional

import org.reactivestreams.{Subscriber, Subscription}
import software.amazon.awssdk.core.async.AsyncRequestBody

/** Publishes the content of a request as one buffer, which is not copied. It has a subscriber for each pass over it. */
final private[putrecords] class PutContent(body: PutBody) extends AsyncRequestBody {
  override def contentLength(): Optional[java.lang.Long] = Optional.of(body.length.toLong)

  override def contentType(): String = PutBody.ContentType

  override def subscribe(subscriber: Subscriber[_ >: ByteBuffer]): Unit = subscriber.onSubscribe(new Subscription {
    private var isDone = false

    override def request(count: Long): Unit = if (!isDone) {
      isDone = true
      if (count <= 0) subscriber.onError(new IllegalArgumentException(s"demand must be positive, was $count"))
      else {
        subscriber.onNext(ByteBuffer.wrap(body.array, 0, body.length))
        subscriber.onComplete()
      }
    }

    override def cancel(): Unit = isDone = true
  })
}
