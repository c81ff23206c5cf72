package org.sparkkinesis.reference

import org.sparkkinesis.service.Operation

/**
 * Every call of the connector, and what each setting of the network does to it. A suite of the module `aws` makes all
 * calls with all settings, and `docs/network.md` shows the result.
 */
object NetworkTable {
  val AssumeRole = "AssumeRole"
  val Metadata = "metadata service"
  val MetadataAddress = "https://metadata.example.com"

  /** All operations, the call for credentials and the call to a metadata service. */
  val calls: Seq[String] = Operation.all.map(_.name) ++ Seq(AssumeRole, Metadata)

  sealed abstract class Way(val shown: String)
  case object Proxied extends Way("proxy")
  case object Direct extends Way("direct")
  case object Refused extends Way("error")

  /**
   * @param title
   *   the setting, as a user writes it
   * @param way
   *   how every call then goes
   * @param options
   *   options, in which PROXY is the address of the proxy
   * @param properties
   *   system properties; PROXY_PORT is its port
   * @param variables
   *   environment variables
   * @param isLoopback
   *   whether the endpoint is a loopback address
   */
  final case class Setting(
      title: String,
      way: Way,
      options: Seq[(String, String)] = Nil,
      properties: Seq[(String, String)] = Nil,
      variables: Seq[(String, String)] = Nil,
      isLoopback: Boolean = false
  )

  private val user = Seq("proxyUser" -> "someone", "proxyPassword" -> "p@ss:word")
  private val option = Seq("proxy" -> "http://PROXY") ++ user
  private val ofJvm = Seq(
    "http.proxyHost" -> "127.0.0.1",
    "http.proxyPort" -> "PROXY_PORT",
    "http.proxyUser" -> "someone",
    "http.proxyPassword" -> "p@ss:word"
  )
  private val variable = "HTTP_PROXY" -> "http://someone:p%40ss%3Aword@PROXY"

  val settings: Seq[Setting] = Seq(
    Setting("option `proxy`, with `proxyUser` and `proxyPassword`", Proxied, option),
    Setting("option `proxy`, a loopback endpoint", Proxied, option, isLoopback = true),
    Setting("option `proxy` without the user that the proxy wants", Refused, option.take(1)),
    Setting(
      "options `proxy` and `nonProxyHosts` with the host",
      Direct,
      option :+ ("nonProxyHosts" -> "example.invalid")
    ),
    Setting("system property `http.proxyHost`", Proxied, properties = ofJvm),
    Setting("system property `http.proxyHost`, a loopback endpoint", Direct, properties = ofJvm, isLoopback = true),
    Setting(
      "system properties `http.proxyHost` and `http.nonProxyHosts` with the host",
      Direct,
      properties = ofJvm :+ ("http.nonProxyHosts" -> "*.invalid")
    ),
    Setting("system property `http.proxyHost`, option `proxy=none`", Direct, Seq("proxy" -> "none"), ofJvm),
    Setting(
      "system property `https.proxyHost`, an `http` endpoint",
      Direct,
      properties = ofJvm.map { case (key, value) =>
        key.replace("http.", "https.") -> value
      }
    ),
    Setting("variable `HTTP_PROXY`", Proxied, variables = Seq(variable)),
    Setting(
      "variables `HTTP_PROXY` and `NO_PROXY` with the host",
      Direct,
      variables = Seq(variable, "NO_PROXY" -> ".invalid")
    )
  )

  /**
   * @param properties
   *   system properties, for which there are variables and settings of the profile with the same meaning
   * @param host
   *   the host of a call
   */
  final case class Endpoint(title: String, properties: Seq[(String, String)], host: String => String)

  private def serviceOf(call: String): String = call match {
    case Operation.PutRecordBatch.name => "firehose"
    case AssumeRole => "sts"
    case _ => "kinesis"
  }

  /** Calls that name the stream or the consumer by its ARN. */
  private val withArn = Set[Operation](
    Operation.RegisterStreamConsumer,
    Operation.DeregisterStreamConsumer,
    Operation.ListStreamConsumers,
    Operation.DescribeStreamConsumer,
    Operation.SubscribeToShard
  ).map(_.name)

  private def of(call: String)(host: String => String): String =
    if (call == Metadata) "metadata.example.com" else host(serviceOf(call))

  private def accountOf(call: String): String =
    if (call == Operation.SubscribeToShard.name) "123456789012.data-" else "123456789012.control-"

  val endpoints: Seq[Endpoint] = Seq(
    Endpoint(
      "none",
      Nil,
      call => of(call)(service => s"${if (withArn(call)) accountOf(call) else ""}$service.us-east-1.amazonaws.com")
    ),
    Endpoint(
      "`AWS_USE_FIPS_ENDPOINT=true`",
      Seq("aws.useFipsEndpoint" -> "true"),
      call => of(call)(service => s"${if (withArn(call)) accountOf(call) else ""}$service-fips.us-east-1.amazonaws.com")
    ),
    Endpoint(
      "`AWS_USE_DUALSTACK_ENDPOINT=true`",
      Seq("aws.useDualstackEndpoint" -> "true"),
      call => of(call)(service => s"${if (withArn(call)) accountOf(call) else ""}$service.us-east-1.api.aws")
    ),
    Endpoint(
      "`AWS_ENDPOINT_URL=https://a.example.com`",
      Seq("aws.endpointUrl" -> "https://a.example.com"),
      call =>
        of(call)(_ => "a.example.com")
    ),
    Endpoint(
      "`AWS_ENDPOINT_URL_KINESIS`, `…_FIREHOSE`, `…_STS`",
      Seq("Kinesis", "Firehose", "Sts").map { service =>
        s"aws.endpointUrl$service" -> s"https://${service.toLowerCase}.example.com"
      },
      call => of(call)(service => s"$service.example.com")
    )
  )
}
