package org.sparkkinesis.aws.subscription

import java.io.{ByteArrayOutputStream, IOException}

import scala.jdk.CollectionConverters._

import io.netty.buffer.Unpooled
import software.amazon.eventstream.{HeaderValue, Message}

import org.sparkkinesis.aws.transport.AnswerHead
import org.sparkkinesis.service.{ServiceErrorKind, ServiceException, ShardSubscriber, SubscribeToShardEvent}
import org.sparkkinesis.suite.TimedSuite

class SubscriptionCallSuite extends TimedSuite {
  private class Receiver(onBegin: () => Unit = () => ()) extends ShardSubscriber {
    var errors = Vector.empty[ServiceException]
    var events = 0
    var isComplete = false
    override def onSubscribed(): Unit = onBegin()
    override def onEvent(event: SubscribeToShardEvent): Unit = events += 1
    override def onError(error: ServiceException): Unit = errors :+= error
    override def onComplete(): Unit = isComplete = true
  }

  private def message(content: String, headers: (String, String)*): Array[Byte] = {
    val out = new ByteArrayOutputStream
    val all = headers.toMap.view.mapValues(HeaderValue.fromString).toMap.asJava
    new Message(all, content.getBytes("UTF-8")).encode(out)
    out.toByteArray
  }

  private val begin = message("{}", ":message-type" -> "event", ":event-type" -> "initial-response")
  private val event = message(
    """{"Records":[],"ContinuationSequenceNumber":"1","MillisBehindLatest":0}""",
    ":message-type" -> "event",
    ":event-type" -> "SubscribeToShardEvent"
  )

  private def head(status: Int, headers: (String, String)*): AnswerHead = new AnswerHead(status, headers.toMap.get)
  private def feed(call: SubscriptionCall, bytes: Array[Byte]): Unit = call.content(Unpooled.wrappedBuffer(bytes))

  private def begun(receiver: Receiver): SubscriptionCall = {
    val call = new SubscriptionCall(receiver, new MessageBuffers)
    call.begin(head(200))
    feed(call, begin)
    call
  }

  test("an error of the JVM in a callback ends the subscription with an error, and reaches the connection's thread") {
    val receiver = new Receiver(() => throw new NoClassDefFoundError("Decoder"))
    val call = new SubscriptionCall(receiver, new MessageBuffers)
    call.begin(head(200))
    intercept[NoClassDefFoundError](feed(call, begin))
    assert(receiver.errors.map(_.getCause.getClass) == Vector(classOf[NoClassDefFoundError]))
    call.end(null)
    assert(receiver.errors.size == 1)
  }

  for ((status, contentType) <- Seq(302 -> "text/html", 200 -> "text/html; charset=utf-8"))
    test(s"HTTP $status with $contentType is no answer of the service, and ends the subscription with this error") {
      val receiver = new Receiver
      val call = new SubscriptionCall(receiver, new MessageBuffers)
      call.begin(head(status, "Content-Type" -> contentType))
      feed(call, "<p>Log in</p>".getBytes("UTF-8"))
      call.end(null)
      assert(receiver.errors.map(_.kind) == Vector(ServiceErrorKind.ForeignAnswer))
    }

  test("a refusal has the code of the service") {
    val receiver = new Receiver
    val call = new SubscriptionCall(receiver, new MessageBuffers)
    call.begin(head(400, "x-amzn-RequestId" -> "id-1"))
    val json = """{"__type":"ResourceInUseException","message":"in use"}""".getBytes("UTF-8")
    json.grouped(7).foreach(feed(call, _))
    call.end(null)
    assert(receiver.errors.map(error => (error.errorCode, error.requestId)) ==
      Vector(("ResourceInUseException", Some("id-1"))))
  }

  test("events that are not requested wait, and the end of the call waits behind them") {
    val receiver = new Receiver
    val call = begun(receiver)
    // In pieces that end within messages.
    (event ++ event ++ event).grouped(50).foreach(feed(call, _))
    assert(receiver.events == 0)
    call.request(2)
    feed(call, event)
    assert(receiver.events == 2)
    call.end(null)
    assert((receiver.events, receiver.isComplete) == ((2, false)))
  }

  test("a subscription without an initial response begins with its first event, which waits until it is requested") {
    var begins = 0
    val receiver = new Receiver(() => begins += 1)
    val call = new SubscriptionCall(receiver, new MessageBuffers)
    call.begin(head(200))
    feed(call, event ++ event)
    feed(call, event)
    assert((begins, receiver.events) == ((1, 0)))
    call.end(null)
    assert(!receiver.isComplete)
    call.request(2)
    feed(call, Array.emptyByteArray)
    assert((begins, receiver.events, receiver.isComplete) == ((1, 2, false)))
    call.request(2)
    feed(call, Array.emptyByteArray)
    assert((begins, receiver.events, receiver.isComplete) == ((1, 3, true)))

    val last = new Receiver
    val single = new SubscriptionCall(last, new MessageBuffers)
    single.begin(head(200))
    feed(single, event)
    single.end(null)
    assert((last.events, last.isComplete) == ((0, false)))
  }

  test("a call without demand reports its end at once if no event waits") {
    val lost = new Receiver
    begun(lost).end(new IOException("lost"))
    assert(lost.errors.map(_.getCause.getMessage) == Vector("lost"))
    val complete = new Receiver
    begun(complete).end(null)
    assert(complete.isComplete && complete.errors.isEmpty)
  }

  test("an exception in the stream ends the subscription with its code, and what follows is not reported") {
    val receiver = new Receiver
    val call = begun(receiver)
    call.request(10)
    val headers = Seq(":message-type" -> "exception", ":exception-type" -> "ResourceNotFoundException")
    feed(call, message("""{"message":"gone"}""", headers: _*) ++ event)
    call.end(new IOException("later"))
    assert(receiver.errors.map(_.errorCode) == Vector("ResourceNotFoundException"))
    assert(receiver.events == 0)
  }
}
