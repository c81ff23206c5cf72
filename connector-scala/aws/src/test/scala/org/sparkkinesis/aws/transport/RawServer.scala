package org.sparkkinesis.aws.transport

import java.io.{BufferedInputStream, ByteArrayOutputStream, IOException}
import java.net.{InetAddress, ServerSocket, Socket, SocketException}
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicInteger

/**
 * A server on plain sockets, which answers as a test says, also wrongly. Each connection has a thread, which runs
 * `serve` and then closes the connection.
 */
final private[aws] class RawServer(serve: RawServer.Client => Unit) extends AutoCloseable {
  import RawServer._

  private val socket = new ServerSocket(0, 200, InetAddress.getLoopbackAddress)
  private val open = new ConcurrentLinkedQueue[Socket]
  private val accepted = new AtomicInteger
  private val received = new AtomicInteger

  private val thread = new Thread(() => accept(), "raw-server")
  thread.setDaemon(true)
  thread.start()

  def target: Target = Target(secure = false, "127.0.0.1", socket.getLocalPort)

  /** Number of connections. */
  def connections: Int = accepted.get

  /** Number of requests that were received completely. */
  def requests: Int = received.get

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
        val number = accepted.incrementAndGet()
        val server = new Thread(
          () =>
            try serve(new Client(client, number, () => received.incrementAndGet()))
            catch { case _: IOException => () }
            finally client.close(),
          s"raw-server-$number"
        )
        server.setDaemon(true)
        server.start()
      }
    catch { case _: SocketException => () }
}

private[aws] object RawServer {

  /** @param head the lines before the content */
  final case class Request(head: Seq[String], content: Array[Byte]) {
    def header(name: String): Option[String] =
      head.find(_.toLowerCase.startsWith(s"${name.toLowerCase}: ")).map(_.drop(name.length + 2))
  }

  /** @param number 1 for the first connection of a server */
  final class Client(socket: Socket, val number: Int, counted: () => Unit) {
    private val in = new BufferedInputStream(socket.getInputStream)

    /** Reads the next request, or returns nothing when the client has closed the connection. */
    def request(): Option[Request] = {
      val lines = Iterator.continually(line()).takeWhile(_.exists(_.nonEmpty)).flatten.toVector
      if (lines.isEmpty) None
      else {
        val length = Request(lines, Array.emptyByteArray).header("Content-Length").fold(0)(_.toInt)
        val content = in.readNBytes(length)
        if (content.length == length) counted()
        Option.when(content.length == length)(Request(lines, content))
      }
    }

    /** Calls `answer` for each request until the client closes the connection. */
    def requests(answer: Request => Unit): Unit = Iterator.continually(request()).takeWhile(_.isDefined).foreach(
      _.foreach(answer)
    )

    def send(text: String): Unit = send(text.getBytes(ISO_8859_1))

    def send(bytes: Array[Byte]): Unit = {
      socket.getOutputStream.write(bytes)
      socket.getOutputStream.flush()
    }

    /** Sends a complete answer. */
    def answer(content: Array[Byte], headers: String*): Unit = send(
      (s"HTTP/1.1 200 OK" +: headers :+ s"Content-Length: ${content.length}").mkString("", "\r\n", "\r\n\r\n")
        .getBytes(ISO_8859_1) ++ content
    )

    /** Waits for the first byte. Returns whether there is one. */
    def hasBegun(): Boolean = in.read() >= 0

    /** Waits until the client has closed the connection. */
    def awaitEnd(): Unit =
      try while (in.read() >= 0) ()
      catch { case _: SocketException => () }

    /** Passes on the bytes of both directions until one of the connections ends. */
    def pipe(to: Socket): Unit = {
      val back = new Thread(() =>
        try to.getInputStream.transferTo(socket.getOutputStream)
        catch { case _: IOException => () }
        finally socket.close()
      )
      back.setDaemon(true)
      back.start()
      val buffer = new Array[Byte](65536)
      var count = in.read(buffer)
      while (count >= 0) {
        to.getOutputStream.write(buffer, 0, count)
        count = in.read(buffer)
      }
    }

    def close(): Unit = socket.close()

    /** Closes the connection with a reset. */
    def reset(): Unit = {
      socket.setSoLinger(true, 0)
      socket.close()
    }

    private def line(): Option[String] = {
      val bytes = new ByteArrayOutputStream
      var byte = in.read()
      while (byte >= 0 && byte != '\n') {
        if (byte != '\r') bytes.write(byte)
        byte = in.read()
      }
      Option.when(byte >= 0)(bytes.toString(ISO_8859_1))
    }
  }
}
