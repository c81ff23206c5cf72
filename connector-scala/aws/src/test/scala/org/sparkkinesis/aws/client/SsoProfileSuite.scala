package org.sparkkinesis.aws.client

import java.net.{InetAddress, InetSocketAddress}
import java.nio.file.{Files, Path}
import java.security.MessageDigest
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import com.sun.net.httpserver.HttpServer
import software.amazon.awssdk.regions.Region

import org.sparkkinesis.aws.network.ChildProcess
import org.sparkkinesis.network.Network
import org.sparkkinesis.suite.TimedSuite

/** Profiles of IAM Identity Center: with a token that `aws sso login` has left, against a portal of the test. */
class SsoProfileSuite extends TimedSuite {
  private val Start = "https://corp.awsapps.com/start"

  private def resolved(config: String, tokenOf: String): (Seq[String], Seq[String]) = {
    val asked = new ConcurrentLinkedQueue[String]
    val portal = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress, 0), 0)
    portal.createContext(
      "/",
      exchange => {
        asked.add(s"${exchange.getRequestURI} ${exchange.getRequestHeaders.getFirst("x-amz-sso_bearer_token")}")
        val body = """{"roleCredentials": {"accessKeyId": "ASIASSO", "secretAccessKey": "s", "sessionToken": "t",
          "expiration": 4102444800000}}""".getBytes
        exchange.sendResponseHeaders(200, body.length.toLong)
        exchange.getResponseBody.write(body)
        exchange.close()
      }
    )
    portal.start()
    val home = Files.createTempDirectory("home")
    try {
      write(home.resolve(".aws/config"), config)
      val name = MessageDigest.getInstance("SHA-1").digest(tokenOf.getBytes).map(byte => f"$byte%02x").mkString
      write(
        home.resolve(s".aws/sso/cache/$name.json"),
        s"""{"startUrl": "$Start", "region": "us-east-1", "accessToken": "cached",
           |"expiresAt": "2099-01-01T00:00:00Z"}""".stripMargin
      )
      val variables = Seq(
        "HOME" -> home.toString,
        "AWS_ENDPOINT_URL_SSO" -> s"http://127.0.0.1:${portal.getAddress.getPort}"
      )
      val lines = ChildProcess.run("org.sparkkinesis.aws.client.SsoProfile", variables, Seq(s"-Duser.home=$home"))
      (lines.filter(_.startsWith("KEY")), asked.asScala.toSeq)
    } finally portal.stop(0)
  }

  private def write(file: Path, text: String): Unit = {
    Files.createDirectories(file.getParent)
    Files.writeString(file, text)
    ()
  }

  private val role = "sso_account_id = 123456789012\nsso_role_name = reader\n"

  test("a profile with a session of IAM Identity Center has the credentials of its role") {
    val session = s"[sso-session corp]\nsso_region = us-east-1\nsso_start_url = $Start\n"
    val (key, asked) = resolved(s"[profile sso]\nsso_session = corp\n$role$session", "corp")
    assert(key == Seq("KEY ASIASSO"))
    assert(asked == Seq("/federation/credentials?role_name=reader&account_id=123456789012 cached"))
  }

  test("a profile with its own start address of IAM Identity Center has the credentials of its role") {
    val (key, asked) = resolved(s"[profile sso]\nsso_region = us-east-1\nsso_start_url = $Start\n$role", Start)
    assert(key == Seq("KEY ASIASSO"))
    assert(asked.size == 1)
  }
}

/** Resolves the profile `sso` and prints the key. */
object SsoProfile {
  def main(args: Array[String]): Unit = {
    val credentials = Credentials.of(CredentialSettings.Profile("sso"), Region.US_EAST_1, Network.Standard)
    try println(s"KEY ${credentials.resolveIdentity().get().accessKeyId}")
    finally credentials.close()
  }
}
