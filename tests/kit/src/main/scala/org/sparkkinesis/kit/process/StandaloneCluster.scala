package org.sparkkinesis.kit.process

import java.net.{InetSocketAddress, ServerSocket, Socket}
import java.nio.file.{Files, Path, Paths}
import java.util.concurrent.TimeUnit

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.{Try, Using}

/**
 * A Spark standalone cluster: a master, and workers whose executors have one core each. Closing it ends all of them.
 *
 * It uses this JVM's class path, and thus the compiled classes.
 */
final class StandaloneCluster(folder: Path, workers: Int, executorsPerWorker: Int) extends AutoCloseable {
  import StandaloneCluster._

  private val port = Using.resource(new ServerSocket(0))(_.getLocalPort)
  private val environment = Map(
    "SPARK_HOME" -> JavaProcess.emptySparkHome(folder).toString,
    "SPARK_SCALA_VERSION" -> "2.13",
    "SPARK_LOCAL_IP" -> "127.0.0.1"
  )

  val master: String = s"spark://127.0.0.1:$port"

  private val masterProcess =
    start("master", "Master", Seq("--host", "127.0.0.1", "--port", port.toString, "--webui-port", "0"))
  awaitMaster()
  private val workerProcesses = (1 to workers).map { i =>
    val place = Files.createDirectories(folder.resolve(s"worker-$i"))
    val memory = s"${executorsPerWorker * (ExecutorMegabytes + 512)}m"
    start(
      s"worker-$i",
      "Worker",
      Seq("--host", "127.0.0.1", "--cores", executorsPerWorker.toString, "--memory", memory, "--webui-port", "0") ++
        Seq("-d", place.toString, master)
    )
  }

  /** The settings with which a session uses this cluster and all of its executors. */
  val settings: Map[String, String] = Map(
    "spark.executor.cores" -> "1",
    "spark.executor.memory" -> s"${ExecutorMegabytes}m",
    "spark.cores.max" -> (workers * executorsPerWorker).toString,
    "spark.executor.extraClassPath" -> JavaProcess.classPath,
    "spark.executor.extraJavaOptions" -> JavaProcess.ShortLived.mkString(" "),
    // Tests kill executors more often than Spark's default limit of task failures allows.
    "spark.task.maxFailures" -> "100",
    "spark.deploy.maxExecutorRetries" -> "-1"
  )

  /** The living executors by id. A new executor has a higher id. */
  def executors: Seq[(Int, ProcessHandle)] = workerProcesses
    .flatMap(_.toHandle.children.iterator.asScala)
    .flatMap(child => executorId(child).map(_ -> child))
    .sortBy(_._1)

  override def close(): Unit = {
    val all = workerProcesses :+ masterProcess
    val children = workerProcesses.flatMap(_.toHandle.descendants.iterator.asScala)
    all.foreach(_.destroy())
    all.foreach(_.waitFor())
    children.foreach(_.destroyForcibly())
    // They may write to the folder until they have ended.
    children.foreach(_.onExit().join())
  }

  private def start(name: String, daemon: String, arguments: Seq[String]): Process = {
    val process = JavaProcess.start(
      s"org.apache.spark.deploy.${daemon.toLowerCase}.$daemon",
      arguments,
      "256m",
      Some(folder.resolve(s"$name.log")),
      JavaProcess.ShortLived,
      environment
    )
    // End the process with this JVM; Spark's daemons do not watch their standard input.
    sys.addShutdownHook(process.destroy())
    process
  }

  private def awaitMaster(): Unit = {
    val deadline = 3.minutes.fromNow
    def answers = Try(Using.resource(new Socket)(_.connect(new InetSocketAddress("127.0.0.1", port), 1000))).isSuccess
    while (!answers) {
      require(deadline.hasTimeLeft(), s"the master does not listen; see $folder")
      require(!masterProcess.waitFor(50, TimeUnit.MILLISECONDS), s"the master ended; see $folder")
    }
  }
}

private object StandaloneCluster {
  val ExecutorMegabytes = 512

  /** Returns the id from the command line of an executor process. */
  def executorId(process: ProcessHandle): Option[Int] = {
    val words = Try(Files.readString(Paths.get(s"/proc/${process.pid}/cmdline")).split('\u0000').toSeq).getOrElse(Nil)
    if (words.exists(_.endsWith("CoarseGrainedExecutorBackend")))
      words.sliding(2).collectFirst { case Seq("--executor-id", id) => id.toInt }
    else None
  }
}
