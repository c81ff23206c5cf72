package org.sparkkinesis.network

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}
import java.net.URI

import org.sparkkinesis.config.{NetworkOptions, Options}
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.suite.TimedSuite

/** Which proxy a call uses, by options, system properties and environment variables. */
class NetworkSuite extends TimedSuite {
  private val service = "https://kinesis.eu-central-1.amazonaws.com"

  private def network(options: (String, String)*): Network = NetworkOptions.of(Options.read(options.toMap))

  private def environment(variables: (String, String)*)(properties: (String, String)*): ProxyEnvironment =
    new ProxyEnvironment(variables.toMap.get, properties.toMap.get)

  private def proxy(
      options: Seq[(String, String)] = Nil,
      variables: Seq[(String, String)] = Nil,
      properties: Seq[(String, String)] = Nil,
      address: String = service
  ): Option[String] =
    network(options: _*).proxyFor(URI.create(address), environment(variables: _*)(properties: _*))
      .map(found => s"${found.host}:${found.port}")

  test("each scheme has its own proxy, and lower case precedes upper case") {
    val variables = Seq("HTTPS_PROXY" -> "http://tls:1", "http_proxy" -> "plain:2", "HTTP_PROXY" -> "not:3")
    assert(proxy(variables = variables) == Some("tls:1"))
    assert(proxy(variables = variables, address = "http://emulator:4567") == Some("plain:2"))
    assert(proxy(variables = Seq("HTTP_PROXY" -> "plain:2")) == None)
    assert(proxy(properties = Seq("http.proxyHost" -> "plain")) == None)
    assert(proxy(properties = Seq("http.proxyHost" -> "plain"), address = "http://emulator:4567") == Some("plain:80"))
    assert(proxy(properties = Seq("https.proxyHost" -> "tls")) == Some("tls:443"))
  }

  test("an option precedes system properties, which precede the environment") {
    val variables = Seq("HTTPS_PROXY" -> "http://variable:1")
    val properties = Seq("https.proxyHost" -> "property", "https.proxyPort" -> "2")
    assert(proxy(Nil, variables, Nil) == Some("variable:1"))
    assert(proxy(Nil, variables, properties) == Some("property:2"))
    assert(proxy(Seq("proxy" -> "http://option:3"), variables, properties) == Some("option:3"))
    assert(proxy(Seq("proxy" -> "none"), variables, properties) == None)
  }

  test("user and password come with the proxy, and options replace them") {
    def user(options: (String, String)*)(variables: (String, String)*)(properties: (String, String)*) =
      network(options: _*).proxyFor(URI.create(service), environment(variables: _*)(properties: _*))
        .map(found => (found.user, found.password))
    val url = "HTTPS_PROXY" -> "http://me:p%40s+s@proxy:3128"
    assert(user()(url)() == Some((Some("me"), Some("p@s+s"))))
    assert(user("proxyUser" -> "you")(url)() == Some((Some("you"), None)))
    assert(user("proxyUser" -> "you", "proxyPassword" -> "x")(url)() == Some((Some("you"), Some("x"))))
    val properties = Seq("https.proxyHost" -> "p", "https.proxyUser" -> "us", "https.proxyPassword" -> "pw")
    assert(user()()(properties: _*) == Some((Some("us"), Some("pw"))))
  }

  test("loopback addresses have a proxy only by the option") {
    Seq("http://127.0.0.1:4567", "https://localhost", "http://[::1]:4567").foreach { address =>
      val variables = Seq("HTTP_PROXY" -> "proxy:1", "HTTPS_PROXY" -> "proxy:1")
      assert(proxy(variables = variables, address = address) == None, address)
      assert(proxy(options = Seq("proxy" -> "proxy:1"), address = address) == Some("proxy:1"), address)
    }
  }

  private val excluded: Seq[(String, String, Boolean)] = Seq(
    ("amazonaws.com", service, true),
    (".amazonaws.com", service, true),
    ("*.amazonaws.com", service, true),
    ("kinesis.eu-central-1.amazonaws.com", service, true),
    ("KINESIS.eu-central-1.AmazonAWS.com.", service, true),
    ("other.example, amazonaws.com", service, true),
    ("other.example|amazonaws.com", service, true),
    ("*", service, true),
    ("amazonaws.com:443", service, true),
    ("amazonaws.com:8443", service, false),
    ("amazonaws.com:8443", s"$service:8443", true),
    // A list, not regular expressions.
    ("kinesis.eu-central-1.amazonawsXcom", service, false),
    ("kinesis.*amazonaws.com", service, true),
    ("kinesis", service, false),
    ("naws.com", service, false),
    ("k.nesis.eu-central-1.amazonaws.com", service, false),
    ("10.0.0.0/8", "https://10.200.3.4", true),
    ("10.0.0.0/8", "https://11.0.0.1", false),
    ("10.0.0.0/8", service, false),
    ("10.1.2.3", "https://10.1.2.3", true),
    ("10.1.2.3", "https://10.1.2.34", false),
    ("10.1.2.3:444", "https://10.1.2.3", false),
    ("10.*", "https://10.1.2.3", true),
    ("192.168.4.0/22", "https://192.168.7.255", true),
    ("192.168.4.0/22", "https://192.168.8.0", false),
    ("0.0.0.0/0", "https://192.168.8.0", true),
    ("fd00::/8", "https://[fd12:3456::1]", true),
    ("[fd12::1]:443", "https://[fd12::1]", true),
    ("fd12:0::1", "https://[fd12::1]", true),
    ("fd00::/8", "https://10.0.0.1", false),
    ("10.0.0.0/33", "https://10.0.0.0", false),
    ("", service, false)
  )

  for ((list, address, isDirect) <- excluded)
    test(s"NO_PROXY='$list' ${if (isDirect) "matches" else "does not match"} $address") {
      val variables = Seq("HTTPS_PROXY" -> "http://proxy:1", "NO_PROXY" -> list)
      assert(proxy(variables = variables, address = address) == Option.when(!isDirect)("proxy:1"))
      if (list.nonEmpty) {
        val options = Seq("proxy" -> "http://proxy:1", "nonProxyHosts" -> list)
        assert(proxy(options = options, address = address) == Option.when(!isDirect)("proxy:1"))
      }
    }

  test("http.nonProxyHosts matches whole names, with a star at the start or the end") {
    def isDirect(list: String, address: String = service): Boolean = proxy(
      properties = Seq("https.proxyHost" -> "proxy", "http.nonProxyHosts" -> list),
      address = address
    ).isEmpty
    assert(isDirect("localhost|*.amazonaws.com"))
    assert(isDirect("10.*", "https://10.2.3.4"))
    assert(!isDirect("amazonaws.com"))
    assert(!isDirect("kinesis.eu-central-1.amazonaws.co."))
  }

  test("each list belongs to its own source of proxies, and the option replaces both") {
    val variables = Seq("HTTPS_PROXY" -> "http://variable:1", "NO_PROXY" -> "amazonaws.com")
    val properties = Seq("https.proxyHost" -> "property", "http.nonProxyHosts" -> "*.amazonaws.com")
    assert(proxy(variables = variables) == None)
    assert(proxy(variables = variables, properties = properties.take(1)) == Some("property:443"))
    assert(proxy(variables = variables.take(1), properties = properties) == None)
    assert(proxy(options = Seq("nonProxyHosts" -> "x"), variables = variables) == Some("variable:1"))
    assert(proxy(options = Seq("proxy" -> "option:1"), variables = variables) == Some("option:1"))
  }

  private val secret = "s3cret"

  for (text <- Seq(s"socks5://u:$secret@proxy:1", s"http://u:$secret@:1", s"http://u:$secret@proxy:99999"))
    test(s"${text.replace(secret, "…")} in the environment is an error that names the variable without its value") {
      val error = intercept[KinesisConnectorException](proxy(variables = Seq("https_proxy" -> text)))
      assert(error.condition == "KINESIS_PROXY_INVALID")
      assert(error.getMessage.contains("environment variable https_proxy") && !error.getMessage.contains(secret))
    }

  test("a port in a system property that is not a number is an error that names it") {
    val properties = Seq("https.proxyHost" -> "proxy", "https.proxyPort" -> "many")
    assert(intercept[KinesisConnectorException](proxy(properties = properties)).getMessage.contains("https.proxyPort"))
  }

  test("secrets are in no text, and equal options are equal settings") {
    def settings = network("proxy" -> "http://proxy:1", "proxyUser" -> "someone", "proxyPassword" -> secret)
    val proxy = settings.proxyFor(URI.create(service)).get
    assert(proxy.password.contains(secret))
    Seq(settings.toString, proxy.toString, Options.read(Map("proxyUser" -> "someone")).toString).foreach { text =>
      assert(!text.contains(secret) && !text.contains("someone"), text)
    }
    val withUser = intercept[KinesisConnectorException](network("proxy" -> s"http://someone:$secret@proxy:1"))
    assert(withUser.condition == "KINESIS_OPTION_INVALID" && !withUser.getMessage.contains(secret))
    assert(settings == settings)
    assert(settings.toString.contains("http://proxy:1"))
  }

  test("a password without a user is refused") {
    assert(intercept[KinesisConnectorException](network("proxyPassword" -> "x")).condition == "KINESIS_OPTION_MISSING")
  }

  test("no option gives the standard settings, and settings can be sent to executors") {
    assert(network() == Network.Standard)
    val settings = network(
      "proxy" -> "https://[fd00::1]:3128",
      "nonProxyHosts" -> "10.0.0.0/8,*.x.*,a.b:3",
      "maxConnections" -> "7",
      "connectTimeout" -> "1s",
      "requestTimeout" -> "2s",
      "caFile" -> "/etc/ca.pem"
    )
    val bytes = new ByteArrayOutputStream
    new ObjectOutputStream(bytes).writeObject(settings)
    assert(new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray)).readObject() == settings)
    assert(settings.proxyFor(URI.create(service)).map(_.toString) == Some("https://[fd00::1]:3128"))
  }
}
