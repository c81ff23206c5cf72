package org.sparkkinesis.aws.client

import java.net.{InetAddress, ServerSocket, Socket, SocketException}
import java.util.concurrent.{CompletableFuture, ConcurrentLinkedQueue}

/** Takes connections and requests, and never answers. Tells when a client has closed its connection. */
final class SilentServer extends AutoCloseable {
  private val socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress)
  private val open = new ConcurrentLinkedQueue[Socket]

  /** Done when a request has begun to arrive. */
  val asked = new CompletableFuture[Unit]

  /** Done when the client has closed the connection. */
  val hungUp = new CompletableFuture[Unit]

  private val thread = new Thread(() => accept(), "silent-server")
  thread.setDaemon(true)
  thread.start()

  def port: Int = socket.getLocalPort

  override def close(): Unit = {
    socket.close()
    open.forEach(_.close())
    thread.join(10000)
  }

  private def accept(): Unit =
    try
      while (true) {
        val client = socket.accept()
        open.add(client)
        drain(client)
      }
    catch { case _: SocketException => () }

  private def drain(client: Socket): Unit = {
    val buffer = new Array[Byte](65536)
    try {
      while (client.getInputStream.read(buffer) >= 0) asked.complete(())
      hungUp.complete(())
    } catch { case _: SocketException => hungUp.complete(()) }
    ()
  }
}
