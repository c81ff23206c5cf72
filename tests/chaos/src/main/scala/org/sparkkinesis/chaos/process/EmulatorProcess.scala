package org.sparkkinesis.chaos.process

import java.net.URI
import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import java.nio.file.Path

/** An emulator in a JVM of its own, which outlives every query that reads from it. Closing it ends it. */
final class EmulatorProcess(log: Path, quotas: Boolean = false, heap: String = "2g") extends AutoCloseable {
  private val process = ChildJvm.start(
    "org.sparkkinesis.emulator.EmulatorMain",
    Seq("--port", "0", "--quotas", if (quotas) "on" else "off", "--stdin-bound"),
    heap,
    log
  )
  private val http = HttpClient.newHttpClient()

  /** Taken from the line that it prints when it is ready. */
  val endpoint: String = {
    val line = process.inputReader().readLine()
    Option(line)
      .flatMap("\"endpoint\"\\s*:\\s*\"([^\"]+)\"".r.findFirstMatchIn(_))
      .map(_.group(1))
      .getOrElse(throw new IllegalStateException(s"the emulator did not start; it said: $line; see $log"))
  }

  /** Makes a stream that is ACTIVE when this returns. */
  def createStream(name: String, shards: Int): Unit = ask("POST", "streams", s"""{"name":"$name","shards":$shards}""")

  /** A fault as the emulator's `FaultJson` reads it. */
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
