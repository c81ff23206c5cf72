package org.sparkkinesis.config

import scala.concurrent.duration._

import org.sparkkinesis.config.value.{OptionType, Transport}
import org.sparkkinesis.error.OptionErrors
import org.sparkkinesis.network.{HostList, Network, Proxy, ProxyChoice}

/** The options for proxy, connections, time limits and TLS, which apply to every call of reads and writes. */
object NetworkOptions {
  import OptionType._

  private val network = new Declaration(Scope.Connection)

  private val choice: Parsed[ProxyChoice] = Parsed[ProxyChoice](
    "the address of an HTTP proxy such as http://proxy.example.com:3128, or none",
    _.toString
  ) { text =>
    if (text.trim.equalsIgnoreCase(ProxyChoice.Direct.toString)) Right(ProxyChoice.Direct)
    else Proxy.parse(text).flatMap { proxy =>
      if (proxy.user.nonEmpty || proxy.password.nonEmpty)
        Left("It has a user name, but plans and logs show this option. Use 'proxyUser' and 'proxyPassword'.")
      else Right(ProxyChoice.Through(proxy))
    }
  }

  val proxy: ConfigEntry[ProxyChoice] = network(
    "proxy",
    choice,
    "HTTP proxy of all calls, also of those to loopback addresses; `none` for no proxy. Environment variables and " +
      "system properties for proxies then have no effect.",
    defaultDoc = "`https.proxyHost`, then `HTTPS_PROXY`, of the process that makes the call"
  )

  val proxyUser: ConfigEntry[String] = network(
    "proxyUser",
    Text,
    "User name for the proxy (Basic authentication). It replaces the user name and password of a proxy from the " +
      "environment."
  ).copy(sensitive = true)

  val proxyPassword: ConfigEntry[String] =
    network("proxyPassword", Text, "Password for the proxy. It requires `proxyUser`.").copy(sensitive = true)

  val nonProxyHosts: ConfigEntry[HostList] = network(
    "nonProxyHosts",
    Parsed[HostList](
      "hosts separated by commas, such as .internal.example.com,10.0.0.0/8,127.0.0.1:4567",
      _.toString
    )(text => Right(HostList.parse(text))),
    "Hosts that are reached without the proxy, in the form of `NO_PROXY`: a domain and all names below it, an " +
      "address, a network as `10.0.0.0/8`, `*` for any text, each with or without a port.",
    defaultDoc = "`http.nonProxyHosts` or `NO_PROXY`; none with `proxy`"
  )

  val maxConnections: ConfigEntry[Long] = network(
    "maxConnections",
    Whole(1, 100000),
    "Maximum number of connections of a client for requests. Tasks and queries of one process share a client if " +
      "their options for stream, credentials and network are equal. Enhanced fan-out has further connections.",
    default = Network.Standard.maxConnections.toString
  )

  val connectTimeout: ConfigEntry[FiniteDuration] = network(
    "connectTimeout",
    Duration(100.millis, 5.minutes),
    "Maximum duration of opening a connection.",
    default = Duration.show(Network.Standard.connectTimeout)
  )

  val requestTimeout: ConfigEntry[FiniteDuration] = network(
    "requestTimeout",
    Duration(100.millis, 10.minutes),
    "Maximum duration of a request. After that, the request is sent again.",
    default = Duration.show(Network.Standard.requestTimeout)
  )

  val caFile: ConfigEntry[String] = network(
    "caFile",
    Text,
    "PEM file with the certificates of the authorities that may sign for services and proxies, for example of a " +
      "proxy that decrypts TLS. The driver and every executor must have it.",
    defaultDoc = "`AWS_CA_BUNDLE`, else the authorities that the JVM trusts"
  )

  val transport: ConfigEntry[Transport] = network(
    "transport",
    OneOf(Transport.all),
    "What sends GetRecords, PutRecords and SubscribeToShard: `native` for the connector's own requests, `sdk` for " +
      "the clients of the AWS SDK, which need more CPU time and memory. Set `sdk` if the service refuses the " +
      "connector's own requests, for example after a change on its side.",
    default = Network.Standard.transport.word
  )

  /** The options for the calls to all services. */
  val ofAllServices: Seq[ConfigEntry[_]] = Seq(
    proxy,
    proxyUser,
    proxyPassword,
    nonProxyHosts,
    maxConnections,
    connectTimeout,
    requestTimeout,
    caFile
  )

  val all: Seq[ConfigEntry[_]] = ofAllServices :+ transport

  /**
   * Returns the settings of the options.
   *
   * @throws org.sparkkinesis.error.KinesisConnectorException
   *   KINESIS_OPTION_MISSING for a password without a user
   */
  def of(options: Options): Network = {
    if (options.isSet(proxyPassword) && !options.isSet(proxyUser))
      throw OptionErrors.missing(
        required = "'proxyUser'",
        reason = "'proxyPassword' is set without a user name.",
        fix = "Set 'proxyUser' as well."
      )
    Network(
      options.get(proxy).getOrElse(ProxyChoice.OfEnvironment),
      options.get(proxyUser),
      options.get(proxyPassword),
      options.get(nonProxyHosts),
      options(maxConnections).toInt,
      options(connectTimeout),
      options(requestTimeout),
      options.get(caFile),
      options(transport)
    )
  }
}
