package org.sparkkinesis.integration.fault

import java.net.{InetAddress, InetSocketAddress, ServerSocket, Socket, URI}
import java.nio.file.Files
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.kit.process.StandaloneCluster
import org.sparkkinesis.kit.stream._

/** A query on a cluster of two executors, one of which loses its connection to the service but not to the driver. */
class ServiceLossSuite extends SparkSuite {
  private lazy val standalone = new StandaloneCluster(temporary, workers = 1, executorsPerWorker = 2)
  override protected def cluster: Option[StandaloneCluster] = Some(standalone)
  override protected def master: String = standalone.master

  private val lost = "1"
  private lazy val port = URI.create(kinesis.endpoint).getPort
  private lazy val relay = new Relay("127.0.0.2", port)

  /** The executor that loses the service resolves the service's host name to the relay. */
  override protected def settings: Map[String, String] = {
    val here = InetAddress.getLocalHost.getHostName
    Seq("0" -> "127.0.0.1", lost -> "127.0.0.2").foreach { case (executor, address) =>
      Files.writeString(temporary.resolve(s"hosts-$executor"), s"$address localhost\n127.0.0.1 $here\n")
    }
    val java = "spark.executor.extraJavaOptions"
    val all = standalone.settings
    all + (java -> s"${all(java)} -Djdk.net.hosts.file=$temporary/hosts-{{EXECUTOR_ID}}") +
      // Tasks do not wait for the executor that cannot read.
      ("spark.locality.wait" -> "60s")
  }

  override def afterAll(): Unit = {
    relay.close()
    super.afterAll()
  }

  private val hasty = Seq("getRecords", "getShardIterator", "subscribeToShard").flatMap { operation =>
    Seq(s"retry.$operation.backoff.base" -> "10ms", s"retry.$operation.backoff.max" -> "100ms")
  }

  test("its shards move to the other executor, and every record is read once and in order") {
    relay.start()
    testStream("cut", 4, hasty :+ ("endpoint" -> s"http://localhost:$port"): _*)(
      PutRecords(0 until 400),
      StartStream(),
      CheckRows(0 until 400),
      Await("shards on both executors")(run => shardsOf(run, lost) == 2),
      Execute("close the relay")(_ => relay.close()),
      PutRecords(400 until 800),
      CheckRows(0 until 800),
      Await("no shards on the lost one")(run => shardsOf(run, lost) == 0),
      CheckKeyOrder
    )
  }

  private def shardsOf(run: StreamRun, executor: String): Int = run.metric("shardsByExecutor").fold(0) { shown =>
    shown.split(", ").map(_.split(": ?")).collectFirst { case Array(`executor`, count) => count.toInt }.getOrElse(0)
  }
}

/** Forwards connections to the same port of 127.0.0.1 until it is closed. */
final private class Relay(address: String, port: Int) extends AutoCloseable {
  private val server = new ServerSocket()
  private val sockets = new ConcurrentLinkedQueue[Socket]

  def start(): Unit = {
    server.bind(new InetSocketAddress(address, port))
    daemon(while (!server.isClosed) Try(server.accept()).foreach(connect))
  }

  override def close(): Unit = {
    server.close()
    sockets.asScala.foreach(_.close())
  }

  private def connect(incoming: Socket): Unit = {
    val outgoing = new Socket("127.0.0.1", port)
    Seq(incoming, outgoing).foreach(sockets.add)
    // A connection that was accepted just before the relay was closed.
    if (server.isClosed) Seq(incoming, outgoing).foreach(_.close())
    Seq(incoming -> outgoing, outgoing -> incoming).foreach { case (from, to) =>
      daemon(
        // The end of either direction, including an error, ends the connection.
        try from.getInputStream.transferTo(to.getOutputStream)
        catch { case _: java.io.IOException => () }
        finally Seq(incoming, outgoing).foreach(_.close())
      )
    }
  }

  private def daemon(body: => Unit): Unit = {
    val thread = new Thread(() => body)
    thread.setDaemon(true)
    thread.start()
  }
}
