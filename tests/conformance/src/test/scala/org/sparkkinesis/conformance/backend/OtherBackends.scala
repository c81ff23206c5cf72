package org.sparkkinesis.conformance.backend

import java.net.URI
import java.nio.file.{Files, Path}
import java.util.concurrent.TimeUnit

import scala.concurrent.duration.FiniteDuration
import scala.jdk.CollectionConverters._

import software.amazon.awssdk.auth.credentials.{AwsCredentialsProvider, DefaultCredentialsProvider}

import org.sparkkinesis.suite.TimedSuite

/** Another emulator in a separate process, started by `tests/conformance/backends/NAME.sh`. */
final class ProcessBackend private (override val name: String, process: Process, uri: URI) extends Backend {
  override def endpoint: Option[URI] = Some(uri)

  // The clock of the process cannot be moved, so this waits.
  override def passTime(by: FiniteDuration): Unit = TimeUnit.MILLISECONDS.sleep(by.toMillis)
  override def enforcesQuotas: Boolean = name == "ferrokinesis"

  override def close(): Unit = {
    process.descendants.iterator.asScala.toVector.foreach(_.destroyForcibly())
    process.destroyForcibly().waitFor(10, TimeUnit.SECONDS)
    ()
  }
}

object ProcessBackend {

  /**
   * Runs the script. Its one line on standard output is the endpoint when it is ready, or the reason why it is not
   * available.
   */
  def start(name: String): Either[String, Backend] = {
    val script = Iterator
      .iterate(Path.of("").toAbsolutePath)(_.getParent)
      .takeWhile(_ != null)
      .map(_.resolve(s"tests/conformance/backends/$name.sh"))
      .find(Files.exists(_))
      .getOrElse(throw new AssertionError(s"no script for $name"))
    val process = new ProcessBuilder("bash", script.toString)
      .redirectError(ProcessBuilder.Redirect.DISCARD)
      .start()
    val line = Option(process.inputReader.readLine()).getOrElse("it ended without output")
    if (line.startsWith("http")) Right(new ProcessBackend(name, process, URI.create(line)))
    else {
      process.destroyForcibly()
      Left(line)
    }
  }
}

/** The service itself, if it is requested and credentials exist. A run costs a small amount of money. */
final class ServiceBackend extends Backend {
  override def name: String = "aws"
  override def endpoint: Option[URI] = None
  override def credentials: AwsCredentialsProvider = DefaultCredentialsProvider.builder().build()
  override def passTime(by: FiniteDuration): Unit = TimeUnit.MILLISECONDS.sleep(by.toMillis)
  override def enforcesQuotas: Boolean = true
  override def close(): Unit = ()
}

trait OnProcess extends OnBackend { self: TimedSuite =>
  override protected def start(): Either[String, Backend] = ProcessBackend.start(backendName)
}

trait OnKinesisLocal extends OnProcess { self: TimedSuite =>
  override protected def backendName: String = "kinesis-local"
}

trait OnMinistack extends OnProcess { self: TimedSuite =>
  override protected def backendName: String = "ministack"
}

trait OnFerrokinesis extends OnProcess { self: TimedSuite =>
  override protected def backendName: String = "ferrokinesis"
}

/**
 * Fan-out tests with limits of five and six seconds in real time, which a loaded machine may miss. They run only on
 * request.
 */
trait OnRealTime extends OnBackend { self: TimedSuite =>
  abstract override protected def start(): Either[String, Backend] =
    if (sys.env.get("CONFORMANCE_FAN_OUT").contains("1")) super.start()
    else Left(s"fan-out depends on real time there; tests/conformance/run $backendName runs it")
}

trait OnService extends OnBackend { self: TimedSuite =>
  override protected def backendName: String = "aws"
  override protected def start(): Either[String, Backend] =
    if (sys.env.get("CONFORMANCE_AWS").contains("1")) Right(new ServiceBackend)
    else Left("set CONFORMANCE_AWS=1 and have credentials to run against the service")
}
