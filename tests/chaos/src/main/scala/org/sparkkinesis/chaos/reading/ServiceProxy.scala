package org.sparkkinesis.chaos.reading

import java.io.IOException
import java.net.{InetAddress, InetSocketAddress, ServerSocket, Socket}
import java.nio.file.{Files, Path, Paths}

import scala.collection.mutable
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.{Try, Using}

/**
 * Forwards connections to the service, and can cut a process off from it: its connections are closed and refused, or
 * they discard all bytes. The process of a connection is determined from `/proc`, so this class requires Linux.
 * Thread-safe.
 */
final private[reading] class ServiceProxy(service: InetSocketAddress) extends AutoCloseable {
  import ServiceProxy._

  private val server = new ServerSocket(0, 200, InetAddress.getLoopbackAddress)
  private val open = mutable.HashSet.empty[Passage]
  private var cuts = Vector.empty[Cut]
  private val acceptor = daemon("proxy-acceptor")(acceptAll())
  acceptor.start()

  def endpoint: String = s"http://127.0.0.1:${server.getLocalPort}"

  /** Cuts a process off for this time. */
  def cutOff(pid: Long, time: FiniteDuration, silent: Boolean): Unit = {
    val its = synchronized {
      cuts = cuts.filter(_.until.hasTimeLeft()) :+ Cut(pid, time.fromNow, silent)
      open.toVector
    }
    val ports = portsOf(pid)
    its.filter(passage => ports(passage.clientPort)).foreach(_.cut(silent))
  }

  /** Ends all cuts. */
  def heal(): Unit = synchronized { cuts = Vector.empty }

  override def close(): Unit = {
    server.close()
    synchronized(open.toVector).foreach(_.close())
  }

  private def acceptAll(): Unit =
    try
      while (true) {
        val client = server.accept()
        val present = synchronized {
          cuts = cuts.filter(_.until.hasTimeLeft())
          cuts
        }
        present.find(cut => portsOf(cut.pid)(client.getPort)) match {
          case Some(cut) if !cut.silent => client.close()
          case found => pass(client, found.nonEmpty)
        }
      }
    catch { case _: IOException if server.isClosed => () }

  private def pass(client: Socket, isCut: Boolean): Unit =
    Try(new Socket(service.getAddress, service.getPort)).foreach {
      upstream =>
        Seq(client, upstream).foreach(_.setTcpNoDelay(true))
        val passage = new Passage(client, upstream)
        if (isCut) passage.cut(silent = true)
        synchronized(open += passage)
        passage.begin()
    }

  /** A connection of a client and the connection to the service to which it is forwarded. */
  final private class Passage(client: Socket, upstream: Socket) {
    @volatile private var isCut = false
    val clientPort: Int = client.getPort

    def begin(): Unit = Seq(client -> upstream, upstream -> client).foreach { case (from, to) =>
      daemon(s"proxy-$clientPort")(pump(from, to)).start()
    }

    /** A silent connection remains open until its client closes it. */
    def cut(silent: Boolean): Unit = if (silent) isCut = true else close()

    def close(): Unit = {
      Seq(client, upstream).foreach(socket => Try(socket.close()))
      ServiceProxy.this.synchronized(open -= this)
      ()
    }

    private def pump(from: Socket, to: Socket): Unit = {
      val buffer = new Array[Byte](BufferBytes)
      try {
        val (in, out) = (from.getInputStream, to.getOutputStream)
        Iterator.continually(in.read(buffer)).takeWhile(_ >= 0).foreach(count =>
          if (!isCut) out.write(buffer, 0, count)
        )
      } catch { case _: IOException => () }
      finally close()
    }
  }
}

private object ServiceProxy {
  private val BufferBytes = 64 * 1024

  final case class Cut(pid: Long, until: Deadline, silent: Boolean)

  private def daemon(name: String)(body: => Unit): Thread = {
    val thread = new Thread(() => body, name)
    thread.setDaemon(true)
    thread
  }

  /** Returns the local ports of a process's TCP connections; none if the process has ended. */
  def portsOf(pid: Long): Set[Int] = {
    val inodes = socketsOf(pid)
    if (inodes.isEmpty) Set.empty
    else
      Seq(
        "tcp",
        "tcp6"
      ).flatMap(table => linesOf(Paths.get(s"/proc/$pid/net/$table"))).map(_.trim.split("\\s+")).collect {
        case fields if fields.length > 9 && inodes(fields(9)) =>
          Integer.parseInt(fields(1).substring(fields(1).lastIndexOf(':') + 1), 16)
      }.toSet
  }

  private def socketsOf(pid: Long): Set[String] =
    Try(Using.resource(Files.list(Paths.get(s"/proc/$pid/fd")))(_.iterator.asScala.toVector)).getOrElse(Vector.empty)
      .flatMap(file => Try(Files.readSymbolicLink(file).toString).toOption)
      .collect { case s"socket:[$inode]" => inode }.toSet

  private def linesOf(file: Path): Seq[String] = Try(Files.readAllLines(file).asScala.toSeq.drop(1)).getOrElse(Nil)
}
