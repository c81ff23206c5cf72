package org.sparkkinesis.aws.http

import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.concurrent.duration._

import software.amazon.awssdk.http.async.{AsyncExecuteRequest, SdkAsyncHttpClient}
import software.amazon.awssdk.http.nio.netty.SdkEventLoopGroup

import org.sparkkinesis.concurrent.Shared

/**
 * The event loops of all clients of one kind in this JVM. Their threads end some seconds after the last of these
 * clients is closed, so that a session with a jar of its own leaves none behind. Thread-safe.
 *
 * @param threads
 *   number of event loops; Netty's default without it
 * @param idleTime
 *   time after the last client's end
 */
final private[http] class EventLoops(
    name: String,
    threads: Option[Int] = None,
    idleTime: FiniteDuration = EventLoops.IdleTime
) {
  private val shared = new Shared[Unit, SdkEventLoopGroup](_ => start(), EventLoops.end, idleTime, Shared.onTimer)

  /** Returns the event loops. They run until the returned value is closed. */
  def use(): Shared.Hold[SdkEventLoopGroup] = shared.acquire(())

  private def start(): SdkEventLoopGroup = {
    val builder = SdkEventLoopGroup.builder().threadFactory(DaemonThreads.named(name))
    threads.foreach(number => builder.numberOfThreads(number))
    builder.build()
  }
}

private[aws] object EventLoops {

  /** Time for what a closed client still does, such as failing its last calls. */
  val IdleTime: FiniteDuration = 5.seconds
  private val LongestEnd = 15.seconds

  private def end(loops: SdkEventLoopGroup): Unit = {
    loops.eventLoopGroup.shutdownGracefully(0, LongestEnd.toMillis, TimeUnit.MILLISECONDS)
    ()
  }
}

/** A client that others use too. `close` ends the use of this one. */
final private[http] class HeldHttpClient(held: Shared.Hold[SdkAsyncHttpClient]) extends SdkAsyncHttpClient {
  override def clientName(): String = held.value.clientName()
  override def execute(request: AsyncExecuteRequest): CompletableFuture[Void] = held.value.execute(request)
  override def close(): Unit = held.close()
}
