package org.sparkkinesis.network

import java.io.{IOException, InputStream, OutputStream}
import java.net.{InetAddress, ServerSocket, Socket}
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.util.Base64
import java.util.concurrent.ConcurrentLinkedQueue

import scala.annotation.tailrec
import scala.jdk.CollectionConverters._
import scala.util.Try

/**
 * An HTTP proxy that leads every tunnel and every plain request to one port of this machine, whatever its host is, and
 * records the hosts that clients ask for. So a call to a host that does not exist succeeds through the proxy only.
 *
 * @param port
 *   where everything leads
 * @param user
 *   user and password that clients must send
 * @param server
 *   where the proxy is reached; closed with it
 */
final class TestProxy(
    port: Int,
    user: Option[(String, String)],
    server: ServerSocket = new ServerSocket(0, 200, InetAddress.getLoopbackAddress)
) extends AutoCloseable {
  private val asked = new ConcurrentLinkedQueue[String]
  private val sockets = new ConcurrentLinkedQueue[Socket]
  private val expected = user.map { case (name, password) =>
    "Basic " + Base64.getEncoder.encodeToString(s"$name:$password".getBytes(ISO_8859_1))
  }
  daemon(
    try while (true) {
        val client = server.accept()
        sockets.add(client)
        daemon(serve(client))
      }
    catch { case _: IOException if server.isClosed => () }
  )

  def address: String = s"127.0.0.1:${server.getLocalPort}"

  /** The hosts and ports for which clients have asked since the last call: once for each tunnel and plain request. */
  def seen(): Seq[String] = Iterator.continually(asked.poll()).takeWhile(_ != null).toSeq

  override def close(): Unit = {
    server.close()
    sockets.asScala.foreach(socket => Try(socket.close()))
  }

  private def serve(client: Socket): Unit =
    try {
      val head = headOf(client.getInputStream)
      val target = targetOf(head)
      if (!expected.forall(valueOf(head, "Proxy-Authorization").contains)) {
        asked.add(s"refused $target")
        client.getOutputStream.write((
          "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"test\"\r\n" +
            "Content-Length: 0\r\nConnection: close\r\n\r\n"
        ).getBytes(ISO_8859_1))
      } else {
        val upstream = new Socket(InetAddress.getLoopbackAddress, port)
        sockets.add(upstream)
        def back(): Thread = daemon(pump(upstream.getInputStream, client.getOutputStream, client))
        if (head.startsWith("CONNECT ")) {
          asked.add(target)
          // Before anything that the service sends.
          client.getOutputStream.write("HTTP/1.1 200 Connection established\r\n\r\n".getBytes(ISO_8859_1))
          val answers = back()
          pump(client.getInputStream, upstream.getOutputStream, upstream)
          answers.join()
        } else {
          val answers = back()
          try forward(head, client.getInputStream, upstream.getOutputStream)
          finally upstream.close()
          answers.join()
        }
      }
    } catch { case _: IOException => () }
    finally client.close()

  /** Passes plain requests on, without the host in their first line. */
  @tailrec
  private def forward(head: String, from: InputStream, to: OutputStream): Unit = {
    asked.add(targetOf(head))
    to.write(head.replaceFirst("http://[^/ ]+", "").getBytes(ISO_8859_1))
    to.write(from.readNBytes(valueOf(head, "Content-Length").fold(0)(_.toInt)))
    forward(headOf(from), from, to)
  }

  /** Returns host and port of a tunnel or a plain request. */
  private def targetOf(head: String): String =
    head.split(' ').lift(1).getOrElse("").stripPrefix("http://").takeWhile(_ != '/')

  private def valueOf(head: String, name: String): Option[String] =
    head.linesIterator.map(_.split(": ", 2)).collectFirst {
      case Array(key, value) if key.equalsIgnoreCase(name) => value
    }

  private def pump(from: InputStream, to: OutputStream, ended: Socket): Unit = {
    try from.transferTo(to)
    catch { case _: IOException => () }
    try ended.close()
    catch { case _: IOException => () }
  }

  private def headOf(in: InputStream): String = {
    val head = new StringBuilder
    while (!head.endsWith("\r\n\r\n")) {
      val next = in.read()
      if (next < 0) throw new IOException("the client has left")
      head.append(next.toChar)
    }
    head.toString
  }

  private def daemon(body: => Unit): Thread = {
    val thread = new Thread(() => body, "test-proxy")
    thread.setDaemon(true)
    thread.start()
    thread
  }
}
