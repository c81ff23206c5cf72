package org.sparkkinesis.emulator

import java.io.ByteArrayOutputStream
import java.net.BindException
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Path
import java.util.concurrent.CountDownLatch

import org.sparkkinesis.emulator.document.Encoding
import org.sparkkinesis.emulator.wire.auth.{EmulatorCredential, EmulatorRole}
import org.sparkkinesis.error.KinesisConnectorException

/**
 * Runs an emulator as a separate process. It prints one line of JSON with its `endpoint` when it is ready, and runs
 * until it receives a signal or, with `--stdin-bound`, until its standard input ends.
 */
object EmulatorMain {
  private val Usage =
    """Usage: EmulatorMain [--host ADDRESS] [--port N] [--quotas on|off] [--tls] [--region NAME] [--account NUMBER]
      |       [--memory-mb N] [--directory DIR] [--deliveries DIR] [--credentials ID:SECRET] [--accounts N,N]
      |       [--role ARN] [--stdin-bound]
      |  --host ADDRESS   address or name to listen on; 127.0.0.1 by default, 0.0.0.0 for all interfaces. Any but one of
      |                   the loopback interface needs --credentials or --accounts
      |  --port N         port to listen on; 0, the default, takes a free port
      |  --quotas on|off  whether the service's quotas are enforced; on by default
      |  --tls            serve https, with a certificate that is created at start and printed as certificatePem
      |  --directory DIR  directory that keeps the streams from one run to the next
      |  --deliveries DIR directory for the files of Firehose delivery streams; without it they are temporary
      |  --credentials ID:SECRET[,ID:SECRET]  keys that requests must be signed with; requests for the pages need the
      |                   token that is printed as adminToken
      |  --accounts N,N   accounts to serve; the access key of an account is its number, with the secret emulator, and
      |                   the region of a request is that of its signature
      |  --role ARN       role that AssumeRole accepts; repeat the option for several roles
      |  --memory-mb N    maximum MiB of records to hold; above it, the oldest records are dropped early
      |  --stdin-bound    stop when standard input ends
      |""".stripMargin

  final private case class Options(config: EmulatorConfig, stdinBound: Boolean)

  def main(args: Array[String]): Unit = parse(args.toList, Options(EmulatorConfig(), stdinBound = false)) match {
    case Left(problem) =>
      System.err.println(problem)
      System.err.println(Usage)
      sys.exit(2)
    case Right(options) => run(options)
  }

  private def run(options: Options): Unit = {
    val emulator =
      try KinesisEmulator.start(options.config)
      catch {
        case taken: BindException =>
          System.err.println(
            s"Port ${options.config.port} of ${options.config.host} cannot be listened on: ${taken.getMessage}."
          )
          sys.exit(1)
        case e: KinesisConnectorException =>
          System.err.println(e.getMessage)
          sys.exit(1)
      }
    val ended = new CountDownLatch(1)
    sys.addShutdownHook {
      emulator.close()
      ended.countDown()
    }
    println(ready(emulator))
    if (options.stdinBound) {
      while (System.in.read() >= 0) {}
      sys.exit(0)
    }
    ended.await()
  }

  private def ready(emulator: KinesisEmulator): String = {
    val out = new ByteArrayOutputStream
    Encoding.Json.write(out) { line =>
      line.obj {
        line.field("endpoint", emulator.endpoint)
        line.field("port", emulator.port.toLong)
        line.field("region", emulator.region)
        if (emulator.certificatePem.nonEmpty) line.field("certificatePem", emulator.certificatePem)
        emulator.adminToken.foreach(line.field("adminToken", _))
      }
    }
    out.toString(UTF_8)
  }

  private def parse(args: List[String], so: Options): Either[String, Options] = args match {
    case Nil => Right(so)
    case "--host" :: host :: rest => parse(rest, so.copy(config = so.config.copy(host = host)))
    case "--port" :: Number(n) :: rest => parse(rest, so.copy(config = so.config.copy(port = n)))
    case "--quotas" :: (choice @ ("on" | "off")) :: rest =>
      parse(rest, so.copy(config = so.config.copy(quotas = choice == "on")))
    case "--tls" :: rest => parse(rest, so.copy(config = so.config.copy(tls = true)))
    case "--region" :: region :: rest => parse(rest, so.copy(config = so.config.copy(region = region)))
    case "--account" :: account :: rest => parse(rest, so.copy(config = so.config.copy(account = account)))
    case "--memory-mb" :: Number(n) :: rest =>
      parse(rest, so.copy(config = so.config.copy(memoryCapBytes = n * 1024L * 1024)))
    case "--directory" :: path :: rest => parse(rest, so.copy(config = so.config.copy(directory = Some(Path.of(path)))))
    case "--deliveries" :: path :: rest =>
      parse(rest, so.copy(config = so.config.copy(deliveries = Some(Path.of(path)))))
    case "--credentials" :: Keys(keys) :: rest =>
      parse(rest, so.copy(config = so.config.copy(credentials = keys(so.config.account))))
    case "--accounts" :: Accounts(numbers) :: rest => parse(rest, so.copy(config = so.config.withAccounts(numbers)))
    case "--role" :: role :: rest =>
      parse(rest, so.copy(config = so.config.copy(roles = so.config.roles :+ EmulatorRole(role))))
    case "--stdin-bound" :: rest => parse(rest, so.copy(stdinBound = true))
    case other :: _ => Left(s"The argument $other is unknown, or its value is wrong.")
  }

  /** Matches `ID:SECRET`, or several of them separated by commas. */
  private object Keys {
    def unapply(text: String): Option[String => Seq[EmulatorCredential]] = {
      val pairs = text.split(',').map(_.split(":", 2))
      if (pairs.forall(_.length == 2)) Some(account => pairs.toSeq.map(p => EmulatorCredential(p(0), p(1), account)))
      else None
    }
  }

  /** Matches account numbers that are separated by commas. */
  private object Accounts {
    def unapply(text: String): Option[Seq[String]] =
      Some(text.split(',').toSeq).filter(_.forall(_.matches("\\d{12}")))
  }

  private object Number {
    def unapply(text: String): Option[Int] = text.toIntOption.filter(_ >= 0)
  }
}
