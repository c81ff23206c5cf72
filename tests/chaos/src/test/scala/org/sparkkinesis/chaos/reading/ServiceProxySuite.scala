package org.sparkkinesis.chaos.reading

import java.io.IOException
import java.net.{InetAddress, InetSocketAddress, ServerSocket, Socket, SocketTimeoutException}

import scala.concurrent.duration._
import scala.util.{Try, Using}

import org.sparkkinesis.suite.TimedSuite

class ServiceProxySuite extends TimedSuite {
  private val OwnPid = ProcessHandle.current.pid

  /** A service that answers every byte with the next value. */
  final private class Echo extends AutoCloseable {
    val server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress)
    val address = new InetSocketAddress(InetAddress.getLoopbackAddress, server.getLocalPort)
    private val thread = new Thread(() => Try(while (true) serve(server.accept())), "echo")
    thread.setDaemon(true)
    thread.start()

    private def serve(socket: Socket): Unit = {
      val serving = new Thread(
        () => {
          Try {
            val (in, out) = (socket.getInputStream, socket.getOutputStream)
            Iterator.continually(in.read()).takeWhile(_ >= 0).foreach(byte => out.write(byte + 1))
          }
          socket.close()
        },
        "echo-connection"
      )
      serving.setDaemon(true)
      serving.start()
    }

    override def close(): Unit = server.close()
  }

  private def withProxy(body: ServiceProxy => Any): Unit = Using.Manager { use =>
    val echo = use(new Echo)
    body(use(new ServiceProxy(echo.address)))
  }.get

  private def connect(proxy: ServiceProxy): Socket = {
    val socket = new Socket(InetAddress.getLoopbackAddress, proxy.endpoint.split(':').last.toInt)
    socket.setSoTimeout(30000)
    socket
  }

  /** Returns the answer to a byte; -1 when the connection is closed. */
  private def ask(socket: Socket, byte: Int): Int = {
    socket.getOutputStream.write(byte)
    socket.getInputStream.read()
  }

  private def isClosed(socket: Socket): Boolean =
    try ask(socket, 1) == -1
    catch {
      case hanging: SocketTimeoutException => throw hanging
      case _: IOException => true
    }

  /** Asserts that a byte has no answer for some time. */
  private def assertHangs(socket: Socket): Unit = {
    socket.setSoTimeout(500)
    intercept[SocketTimeoutException](ask(socket, 3)): Unit
  }

  test("bytes are forwarded in both directions, even if other processes are cut off") {
    withProxy { proxy =>
      proxy.cutOff(pid = 1, 1.minute, silent = false)
      val socket = connect(proxy)
      assert(ask(socket, 1) == 2 && ask(socket, 7) == 8)
    }
  }

  test("a process that is cut off loses its connections and gets no new ones until the end of the cut") {
    withProxy { proxy =>
      val before = connect(proxy)
      assert(ask(before, 1) == 2)
      proxy.cutOff(OwnPid, 1.minute, silent = false)
      assert(isClosed(before))
      assert(isClosed(connect(proxy)))
      proxy.heal()
      assert(ask(connect(proxy), 1) == 2)
    }
  }

  test("a silent cut lets connections hang and discards their bytes") {
    withProxy { proxy =>
      val before = connect(proxy)
      assert(ask(before, 1) == 2)
      proxy.cutOff(OwnPid, 1.minute, silent = true)
      assertHangs(before)
      assertHangs(connect(proxy))
      proxy.heal()
      assertHangs(before)
      assert(ask(connect(proxy), 1) == 2)
    }
  }

  test("a cut ends by itself") {
    withProxy { proxy =>
      proxy.cutOff(OwnPid, 1.milli, silent = false)
      val deadline = 30.seconds.fromNow
      while (isClosed(connect(proxy)) && deadline.hasTimeLeft()) ()
      assert(ask(connect(proxy), 1) == 2)
    }
  }
}
