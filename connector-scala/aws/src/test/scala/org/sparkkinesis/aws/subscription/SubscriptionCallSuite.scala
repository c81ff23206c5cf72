package org.sparkkinesis.aws.subscription

import java.io.ByteArrayOutputStream
import java.nio.ByteBuffer

import scala.jdk.CollectionConverters._

import org.reactivestreams.{Subscriber, Subscription}
import software.amazon.awssdk.http.SdkHttpResponse
import software.amazon.eventstream.{HeaderValue, Message}

import org.sparkkinesis.service.{ServiceErrorKind, ServiceException, ShardSubscriber, SubscribeToShardEvent}
import org.sparkkinesis.suite.TimedSuite

class SubscriptionCallSuite extends TimedSuite {
  private class Receiver(onBegin: () => Unit) extends ShardSubscriber {
    var errors = Vector.empty[ServiceException]
    override def onSubscribed(): Unit = onBegin()
    override def onEvent(event: SubscribeToShardEvent): Unit = ()
    override def onError(error: ServiceException): Unit = errors :+= error
    override def onComplete(): Unit = ()
  }

  private val begin: ByteBuffer = {
    val headers = Map(":message-type" -> "event", ":event-type" -> "initial-response")
    val out = new ByteArrayOutputStream
    new Message(headers.view.mapValues(HeaderValue.fromString).toMap.asJava, "{}".getBytes("UTF-8")).encode(out)
    ByteBuffer.wrap(out.toByteArray)
  }

  test("an error of the JVM in a callback ends the subscription with an error, and reaches the HTTP client's thread") {
    val receiver = new Receiver(() => throw new NoClassDefFoundError("Decoder"))
    val call = new SubscriptionCall(receiver, new MessageBuffers)
    var body: Subscriber[_ >: ByteBuffer] = null
    var isCancelled = false
    call.onHeaders(SdkHttpResponse.builder().statusCode(200).build())
    call.onStream { subscriber =>
      body = subscriber
      subscriber.onSubscribe(new Subscription {
        override def request(n: Long): Unit = ()
        override def cancel(): Unit = isCancelled = true
      })
    }
    intercept[NoClassDefFoundError](body.onNext(begin))
    assert(receiver.errors.map(_.getCause.getClass) == Vector(classOf[NoClassDefFoundError]))
    assert(isCancelled)
    body.onComplete()
    assert(receiver.errors.size == 1)
  }

  for ((status, contentType) <- Seq(302 -> "text/html", 200 -> "text/html; charset=utf-8"))
    test(s"HTTP $status with $contentType is no answer of the service, and ends the subscription with this error") {
      val receiver = new Receiver(() => ())
      val call = new SubscriptionCall(receiver, new MessageBuffers)
      call.onHeaders(SdkHttpResponse.builder().statusCode(status).putHeader("Content-Type", contentType).build())
      call.onStream { subscriber =>
        subscriber.onSubscribe(new Subscription {
          override def request(n: Long): Unit = ()
          override def cancel(): Unit = ()
        })
        subscriber.onNext(ByteBuffer.wrap("<p>Log in</p>".getBytes("UTF-8")))
        subscriber.onComplete()
      }
      assert(receiver.errors.map(_.kind) == Vector(ServiceErrorKind.ForeignAnswer))
    }
}
