package org.sparkkinesis.aws.network

import java.net.{InetAddress, ServerSocket}
import java.nio.file.Files
import java.security.KeyStore
import javax.net.ssl.{KeyManagerFactory, SSLContext}

import scala.concurrent.duration._
import scala.util.Using

import org.scalatest.BeforeAndAfterAll

import org.sparkkinesis.config.{NetworkOptions, Options}
import org.sparkkinesis.emulator.wire.auth.EmulatorRole
import org.sparkkinesis.emulator.wire.http.ServerCertificate
import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.network.{Network, TestProxy}
import org.sparkkinesis.reference.NetworkTable
import org.sparkkinesis.reference.NetworkTable._
import org.sparkkinesis.service.Operation
import org.sparkkinesis.suite.TimedSuite

/**
 * Makes every call with every setting of the network, and looks at what a proxy with authentication sees of it. A host
 * that does not exist is reached through the proxy only.
 */
class NetworkMatrixSuite extends TimedSuite with BeforeAndAfterAll {
  private val config = EmulatorConfig(quotas = false, roles = Seq(EmulatorRole(NetworkCalls.RoleArn)))
    .withAccounts(Seq("123456789012"))
  private lazy val emulator = KinesisEmulator.start(config)
  private lazy val proxy = new TestProxy(emulator.port, Some("someone" -> "p@ss:word"))

  override protected def timeLimit: FiniteDuration = 10.minutes

  override def beforeAll(): Unit = {
    emulator.admin.createStream("orders", 1)
    ()
  }

  override def afterAll(): Unit = {
    proxy.close()
    emulator.close()
  }

  private def filled(settings: Seq[(String, String)]): Seq[(String, String)] = settings.map { case (key, value) =>
    key -> value.replace("PROXY_PORT", proxy.address.split(':').last).replace("PROXY", proxy.address)
  }

  private def withProperties[A](settings: Seq[(String, String)])(body: => A): A = {
    settings.foreach { case (key, value) => System.setProperty(key, value) }
    try body
    finally settings.foreach { case (key, _) => System.clearProperty(key) }
  }

  private def network(options: Seq[(String, String)]): Network = NetworkOptions.of(Options.read(options.toMap))

  private def endpointOf(setting: Setting): String =
    if (setting.isLoopback) emulator.endpoint else "http://service.example.invalid:4567"

  /** The way that a call has gone. */
  private def wayOf(setting: Setting, seen: Seq[String], failure: Option[String]): String =
    (seen.distinct, failure) match {
      case (Nil, None) if setting.isLoopback => Direct.shown
      case (Nil, Some(_)) if !setting.isLoopback => Direct.shown
      case (Seq(host), None) if host == endpointOf(setting).stripPrefix("http://") => Proxied.shown
      case (Seq(host), Some(text)) if host.startsWith("refused ") && !text.contains("p@ss") => Refused.shown
      case other => s"unexpected: $other"
    }

  private def row(setting: Setting): Seq[String] =
    if (setting.variables.nonEmpty) {
      proxy.seen()
      val failures = inOwnProcess(setting)
      val seen = proxy.seen()
      val each = if (setting.way == Proxied) {
        assert(seen.size >= NetworkTable.calls.size, seen)
        seen.distinct
      } else seen
      NetworkTable.calls.map(call => wayOf(setting, each, failures(call)))
    } else NetworkTable.calls.map { call =>
      proxy.seen()
      val failure = withProperties(filled(setting.properties))(
        NetworkCalls.make(call, Some(endpointOf(setting)), network(filled(setting.options)))
      )
      wayOf(setting, proxy.seen(), failure.map(_.toString))
    }

  /** Returns the failures by call. */
  private def inOwnProcess(setting: Setting): Map[String, Option[String]] = {
    val lines =
      ChildProcess.run("org.sparkkinesis.aws.network.NetworkCalls", filled(setting.variables), Nil, endpointOf(setting))
    lines.map(_.split("\t")).collect { case Array("CALL", call, result) =>
      call -> Option.when(result != "answered")(result)
    }.toMap
  }

  private def print(title: String, rows: Seq[(String, Seq[String])]): Unit = {
    info(s"$title: ${NetworkTable.calls.mkString(" | ")}")
    rows.foreach { case (name, cells) => info(s"$name: ${cells.mkString(" | ")}") }
  }

  test("each setting has the declared effect on each call") {
    val rows = NetworkTable.settings.map(setting => setting -> row(setting))
    print("proxy", rows.map { case (setting, cells) => setting.title -> cells })
    rows.foreach { case (setting, cells) =>
      val expected = NetworkTable.calls.map(call => call -> setting.way.shown)
      assert(NetworkTable.calls.zip(cells) == expected, setting.title)
    }
  }

  test("each call of the service names the application") {
    val operations =
      NetworkTable.calls.filter(call => Operation.all.exists(one => one.name == call && one.service != "sts"))
    assert(operations.size > 10)
    operations.foreach { call =>
      assert(NetworkCalls.make(call, Some(emulator.endpoint), Network.Standard).isEmpty, call)
      val agent = emulator.calls.userAgent(call)
      assert(agent.exists(_.endsWith(NetworkCalls.Caller)), s"$call: $agent")
    }
  }

  test("each call takes its host from the endpoint settings of AWS's tools") {
    Using.resource(new TestProxy(emulator.port, None)) { any =>
      val through = network(Seq("proxy" -> any.address))
      val rows = NetworkTable.endpoints.map { endpoint =>
        endpoint -> NetworkTable.calls.map { call =>
          any.seen()
          withProperties(endpoint.properties)(NetworkCalls.make(call, None, through))
          any.seen().distinct.mkString(" ")
        }
      }
      print("host", rows.map { case (endpoint, cells) => endpoint.title -> cells })
      rows.foreach { case (endpoint, cells) =>
        assert(NetworkTable.calls.zip(cells) == NetworkTable.calls.map(call => call -> s"${endpoint.host(call)}:443"))
      }
    }
  }

  test("each call trusts the authorities of the CA file, through a proxy as well, and no other one") {
    Using.resource(KinesisEmulator.start(config.copy(tls = true))) { secure =>
      Using.resource(new TestProxy(secure.port, None)) { any =>
        val file = Files.writeString(Files.createTempFile("ca", ".pem"), secure.certificatePem).toString
        NetworkTable.calls.foreach { call =>
          def make(options: (String, String)*) = NetworkCalls.make(call, Some(secure.endpoint), network(options))
          assert(make("caFile" -> file) == None, call)
          assert(make("caFile" -> file, "proxy" -> any.address) == None, call)
          assert(any.seen().nonEmpty, call)
          assert(make().nonEmpty, call)
        }
      }
    }
  }

  test("each call goes through a proxy that is reached over TLS, if its authority is trusted") {
    val certificate = ServerCertificate.create()
    def caFile(pems: String*) = Files.writeString(Files.createTempFile("ca", ".pem"), pems.mkString).toString
    Using.resource(KinesisEmulator.start(config.copy(tls = true))) { secure =>
      Using.resource(new TestProxy(secure.port, None, listenWith(certificate))) { over =>
        val both = caFile(secure.certificatePem, certificate.pem)
        def make(call: String, file: String) = NetworkCalls.make(
          call,
          Some(secure.endpoint),
          network(Seq("caFile" -> file, "proxy" -> s"https://${over.address}"))
        )
        NetworkTable.calls.foreach { call =>
          assert(make(call, both) == None, call)
          assert(over.seen().distinct == Seq(secure.endpoint.stripPrefix("https://")), call)
        }
        assert(make("GetRecords", caFile(secure.certificatePem)).nonEmpty)
        assert(over.seen() == Nil)
      }
    }
  }

  private def listenWith(certificate: ServerCertificate): ServerSocket = {
    val store = KeyStore.getInstance("PKCS12")
    store.load(null, null)
    store.setKeyEntry("proxy", certificate.key, Array.empty[Char], Array(certificate.certificate))
    val keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm)
    keys.init(store, Array.empty[Char])
    val context = SSLContext.getInstance("TLS")
    context.init(keys.getKeyManagers, null, null)
    context.getServerSocketFactory.createServerSocket(0, 200, InetAddress.getLoopbackAddress)
  }

  test("a CA file that is missing or has no certificate is an error that names it") {
    val empty = Files.createTempFile("ca", ".pem").toString
    Seq("/no/such/file.pem", empty).foreach { file =>
      val failure = NetworkCalls.make("ListShards", Some("https://127.0.0.1:9"), network(Seq("caFile" -> file)))
      assert(failure.exists(_.getMessage.contains(file)), failure)
    }
  }
}
