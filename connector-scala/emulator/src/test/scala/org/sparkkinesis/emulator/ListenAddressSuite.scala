package org.sparkkinesis.emulator

import java.net.{InetAddress, NetworkInterface}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.sparkkinesis.emulator.kit.JsonClient
import org.sparkkinesis.emulator.wire.auth.EmulatorCredential
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.suite.TimedSuite

class ListenAddressSuite extends TimedSuite {
  private val key = EmulatorCredential("AKIAOWNER", "the-secret", "123456789012")
  private val open = EmulatorConfig()
  private val guarded = open.copy(credentials = Seq(key))

  Seq(
    ("127.0.0.1", open, Right("127.0.0.1")),
    ("localhost", open, Right("localhost")),
    ("::1", open, Right("[::1]")),
    ("127.0.0.2", open, Right("127.0.0.2")),
    ("0.0.0.0", open, Left("without credentials")),
    ("::", open, Left("without credentials")),
    ("192.0.2.1", open, Left("without credentials")),
    ("0.0.0.0", guarded, Right("127.0.0.1")),
    ("0.0.0.0", open.withAccounts(Seq("111111111111")), Right("127.0.0.1")),
    ("192.0.2.1", guarded, Right("192.0.2.1")),
    ("no-such-host.invalid", guarded, Left("the host is unknown"))
  ).foreach { case (host, config, expected) =>
    val outcome = expected.fold(why => s"refused, $why", at => s"reached at $at")
    test(s"an emulator on $host with ${config.credentials.size} keys of ${config.account}: $outcome") {
      def listensOn = ListenAddress.of(config.copy(host = host))
      expected match {
        case Right(at) => assert(listensOn.reachedAt == at)
        case Left(why) =>
          val error = intercept[KinesisConnectorException](listensOn)
          assert(error.condition == "KINESIS_EMULATOR_FAILED")
          assert(error.getMessage.contains(why) && error.getMessage.contains(s"cannot listen on $host"))
      }
    }
  }

  test("the certificate names the address and the name under which others reach the emulator") {
    def names(host: String) = ListenAddress.of(guarded.copy(host = host)).certificateNames
    assert(names("127.0.0.1").isEmpty)
    assert(names("192.0.2.1") == Seq("ip:192.0.2.1"))
    assert(names("0.0.0.0") == Seq(s"dns:${InetAddress.getLocalHost.getHostName}"))
  }

  test("other machines reach the pages with the token only, under any name") {
    val outside = NetworkInterface.networkInterfaces.iterator.asScala
      .flatMap(_.inetAddresses.iterator.asScala).find(address =>
        !address.isLoopbackAddress && !address.isLinkLocalAddress
      )
    assume(outside.isDefined, "this machine has the loopback interface only")
    val name = outside.get.getHostAddress.takeWhile(_ != '%')
    Using.resource(KinesisEmulator.start(guarded.copy(host = "0.0.0.0"))) { emulator =>
      val client = new JsonClient(s"http://${if (name.contains(':')) s"[$name]" else name}:${emulator.port}")
      val bearer = "Authorization" -> s"Bearer ${emulator.adminToken.get}"
      assert(client.page("GET", "/_emulator/calls", "").status == 403)
      assert(client.page("GET", "/_emulator/calls", "", bearer).status == 200)
      val foreign = "Origin" -> "http://example.com"
      assert(client.page("GET", "/_emulator/calls", "", bearer, foreign).status == 403)
    }
    Using.resource(KinesisEmulator.start(open)) { emulator =>
      intercept[java.io.IOException](new java.net.Socket(name, emulator.port).close())
    }
  }
}
