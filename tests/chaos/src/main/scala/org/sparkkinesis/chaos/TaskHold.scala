package org.sparkkinesis.chaos

import java.net.{InetAddress, ServerSocket, Socket}
import java.util.concurrent.CountDownLatch

import org.apache.spark.SparkContext

/**
 * A job whose tasks run until they are released: each connects to this JVM and waits for the end of the connection.
 */
final class TaskHold(tasks: Int) extends AutoCloseable {
  private val server = new ServerSocket(0, 100, InetAddress.getLoopbackAddress)
  private val running = new CountDownLatch(tasks)
  private var connections = List.empty[Socket]
  private var released = false
  private val acceptor = new Thread(() => acceptAll(), "task-hold")
  acceptor.setDaemon(true)
  acceptor.start()

  /** Runs the job; returns after [[release]]. */
  def run(context: SparkContext): Unit = {
    val port = server.getLocalPort
    context.parallelize(1 to tasks, tasks).foreach(_ => TaskHold.await(port))
  }

  /** Returns when every task runs. */
  def awaitRunning(): Unit = running.await()

  /** Ends the running tasks, and tasks that start again. */
  def release(): Unit = synchronized {
    released = true
    connections.foreach(_.close())
    connections = Nil
  }

  override def close(): Unit = {
    release()
    server.close()
  }

  private def acceptAll(): Unit =
    try
      while (true) {
        val connection = server.accept()
        synchronized(if (released) connection.close() else connections ::= connection)
        running.countDown()
      }
    catch { case _: java.net.SocketException if server.isClosed => () }
}

object TaskHold {

  /** Runs in an executor. */
  private def await(port: Int): Unit = {
    val connection = new Socket(InetAddress.getLoopbackAddress, port)
    try {
      connection.getInputStream.read()
      ()
    } finally connection.close()
  }
}
