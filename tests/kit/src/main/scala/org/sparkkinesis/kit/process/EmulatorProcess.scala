package org.sparkkinesis.kit.process

import java.net.URI
import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import java.nio.file.Path

/**
 * An emulator in a separate JVM, which ends when it is closed or when this process ends.
 *
 * @param heap
 *   for example `4g`
 * @param log
 *   the file for its standard error
 * @param processor
 *   the only processor that it may use, where `taskset` is installed
 */
final class EmulatorProcess(
    heap: String = "2g",
    quotas: Boolean = false,
    log: Option[Path] = None,
    processor: Option[Int] = None
) extends AutoCloseable {
  private val process = JavaProcess.start(
    "org.sparkkinesis.emulator.EmulatorMain",
    Seq("--port", "0", "--quotas", if (quotas) "on" else "off", "--stdin-bound"),
    heap,
    log,
    prefix = processor.fold(Seq.empty[String])(Processors.on)
  )
  private val http = HttpClient.newHttpClient()

  /** The URL from the line that the emulator prints when it is ready. */
  val endpoint: String = {
    val line = process.inputReader().readLine()
    Option(line)
      .flatMap("\"endpoint\"\\s*:\\s*\"([^\"]+)\"".r.findFirstMatchIn(_))
      .map(_.group(1))
      .getOrElse(throw new IllegalStateException(s"the emulator did not start; it said: $line" + log.fold("")(path =>
        s"; see $path"
      )))
  }

  /** Creates a stream that is ACTIVE when this returns. */
  def createStream(name: String, shards: Int): Unit = ask("POST", "streams", s"""{"name":"$name","shards":$shards}""")

  /** Adds a fault that is written as JSON, as the emulator's `FaultJson` reads it. */
  def addFault(rule: String): Unit = ask("POST", "faults", rule)
  def clearFaults(): Unit = ask("DELETE", "faults", "{}")
  def seedFaults(seed: Long): Unit = ask("DELETE", "faults", s"""{"seed":$seed}""")

  override def close(): Unit = {
    process.destroy()
    process.waitFor()
    ()
  }

  private def ask(method: String, page: String, body: String): Unit = {
    val request = HttpRequest
      .newBuilder(URI.create(s"$endpoint/_emulator/$page"))
      .header("Content-Type", "application/json")
      .method(method, HttpRequest.BodyPublishers.ofString(body))
      .build()
    val answer = http.send(request, HttpResponse.BodyHandlers.ofString())
    if (answer.statusCode != 200)
      throw new IllegalStateException(s"$method $page $body: ${answer.statusCode} ${answer.body}")
  }
}
