package org.sparkkinesis.kit.process

import java.net.URI
import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import java.nio.file.Path

import org.sparkkinesis.json.Json

/**
 * An emulator in a separate JVM, which ends when it is closed or when this process ends.
 *
 * @param heap
 *   for example `4g`
 * @param log
 *   the file for its standard error
 * @param processor
 *   the only processor that it may use, where `taskset` is installed
 * @param tls
 *   whether it also serves https, with a certificate that it creates
 */
final class EmulatorProcess(
    heap: String = "2g",
    quotas: Boolean = false,
    log: Option[Path] = None,
    processor: Option[Int] = None,
    tls: Boolean = false
) extends AutoCloseable {
  private val process = JavaProcess.start(
    "org.sparkkinesis.emulator.EmulatorMain",
    Seq("--port", "0", "--quotas", if (quotas) "on" else "off", "--stdin-bound") ++ Option.when(tls)("--tls"),
    heap,
    log,
    prefix = processor.fold(Seq.empty[String])(Processors.on)
  )
  // Created late: it fixes the certificates that this JVM trusts by default.
  private lazy val http = HttpClient.newHttpClient()

  /** The line that the emulator prints when it is ready. */
  private val ready: Json = {
    val line = process.inputReader().readLine()
    Option(line).flatMap(Json.parse(_).toOption).filter(_.field("port").nonEmpty).getOrElse(
      throw new IllegalStateException(s"the emulator did not start; it said: $line" + log.fold("")(path =>
        s"; see $path"
      ))
    )
  }
  private val port = ready.field("port").flatMap(_.asLong).get

  /** The URL without TLS. */
  val endpoint: String = s"http://127.0.0.1:$port"

  /** The https URL of the same port. */
  val secureEndpoint: Option[String] = Option.when(tls)(s"https://127.0.0.1:$port")

  /** The certificate of `secureEndpoint`. */
  val trust: Option[TrustStore] = ready.field("certificatePem").flatMap(_.asString).map(new TrustStore(_))

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
