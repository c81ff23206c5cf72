package org.sparkkinesis.aws.http

import java.net.URI

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import software.amazon.awssdk.http.async.SdkAsyncHttpClient
import software.amazon.awssdk.http.nio.netty.{NettyNioAsyncHttpClient, SdkEventLoopGroup}
import software.amazon.awssdk.http.{SdkHttpMethod, SdkHttpRequest}

import org.sparkkinesis.network.Network
import org.sparkkinesis.suite.TimedSuite

/** The threads of clients that are closed. */
class EventLoopsSuite extends TimedSuite {
  private val name = "kinesis-event-loops-suite"

  private def threads(prefix: String): Vector[Thread] =
    Thread.getAllStackTraces.keySet.asScala.filter(_.getName.startsWith(prefix)).toVector

  private def touch(loops: SdkEventLoopGroup): Unit = loops.eventLoopGroup.submit((() => ()): Runnable).get(): Unit

  test("the threads of event loops end with their last user, and others begin for the next") {
    val loops = new EventLoops(name, Some(2), Duration.Zero)
    val (one, other) = (loops.use(), loops.use())
    assert(one.value eq other.value)
    touch(one.value)
    one.close()
    touch(other.value)
    val running = threads(name)
    assert(running.nonEmpty)
    other.close()
    running.foreach(_.join())
    assert(other.value.eventLoopGroup.isTerminated)
    val next = loops.use()
    touch(next.value)
    next.close()
    threads(name).foreach(_.join())
  }

  test("a client keeps its event loops until it is closed, and calls nothing after that") {
    val loops = new EventLoops(name, Some(1), Duration.Zero)
    val request = SdkHttpRequest.builder().method(SdkHttpMethod.GET).uri(URI.create("http://127.0.0.1:9")).build()
    def ask(client: SdkAsyncHttpClient): Throwable =
      intercept[Exception](new WholeCalls(client, 10.seconds, 100).start(request, Array.emptyByteArray).await())
    val settings = NettyNioAsyncHttpClient.builder().eventLoopGroup(_: SdkEventLoopGroup)
    val (one, other) = (new ProxiedHttpClient(Network.Standard, loops, settings), loops.use())
    ask(one)
    other.close()
    val running = threads(name)
    assert(running.nonEmpty && !other.value.eventLoopGroup.isShuttingDown)
    one.close()
    running.foreach(_.join())
    ask(one)
    assert(threads(name).isEmpty)
  }
}
