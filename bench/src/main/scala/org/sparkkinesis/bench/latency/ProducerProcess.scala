package org.sparkkinesis.bench.latency

import java.util.concurrent.atomic.AtomicBoolean

import org.sparkkinesis.bench.source.BareClients
import org.sparkkinesis.kit.Arguments
import org.sparkkinesis.kit.process.JavaProcess

/** Puts timed records in a JVM of its own, so that its CPU time does not count, until it is closed. */
final class ProducerProcess(endpoint: String, stream: String, rate: Int) extends AutoCloseable {
  private val process = JavaProcess.start(
    "org.sparkkinesis.bench.latency.ProducerProcess",
    Seq("--endpoint", endpoint, "--stream", stream, "--rate", rate.toString),
    "256m",
    options = Seq("-XX:+UseSerialGC")
  )

  /** Fails if the process has ended. */
  def check(): Unit = require(process.isAlive, "the producer has ended")

  override def close(): Unit = {
    process.destroy()
    process.waitFor()
    ()
  }
}

object ProducerProcess {

  /** Runs in the process, until its standard input ends or a request fails. */
  def main(args: Array[String]): Unit = {
    val arguments = Arguments(args)
    val parentIsThere = new AtomicBoolean(true)
    val watch = new Thread(() => {
      while (System.in.read() >= 0) {}
      parentIsThere.set(false)
    })
    watch.setDaemon(true)
    watch.start()
    val client = BareClients.asynchronous(arguments("endpoint"))
    try
      TimedRecords.produce(client, arguments("stream"), arguments("rate").toInt)(
        parentIsThere.get,
        { error =>
          error.printStackTrace()
          Runtime.getRuntime.halt(1)
        }
      )
    finally client.close()
  }
}
