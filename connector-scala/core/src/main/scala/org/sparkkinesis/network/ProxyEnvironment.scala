package org.sparkkinesis.network

import java.net.URI

import scala.util.Try

import org.sparkkinesis.config.value.Loopback
import org.sparkkinesis.error.{KinesisConnectorException, ServiceErrors}

/**
 * What one process knows of proxies: system properties of the JVM and environment variables. As in the AWS SDK for
 * Java, a proxy of the system properties precedes one of the environment, and each of the two has its own list of hosts
 * without a proxy.
 *
 *   - For `https` addresses: `https.proxyHost`, `https.proxyPort`, `https.proxyUser`, `https.proxyPassword`, then
 *     `https_proxy` or `HTTPS_PROXY`; for `http` addresses the same names with `http`.
 *   - Without a proxy: `http.nonProxyHosts`; `no_proxy` or `NO_PROXY`. Loopback addresses never have one.
 */
final class ProxyEnvironment(variable: String => Option[String], property: String => Option[String]) {

  /**
   * Returns the proxy for an address.
   *
   * @param direct
   *   the hosts without a proxy, instead of those of the process
   * @throws KinesisConnectorException
   *   KINESIS_PROXY_INVALID
   */
  def proxyFor(address: URI, direct: Option[HostList]): Option[Proxy] =
    if (Loopback.isHost(address.getHost)) None
    else {
      val scheme = if (address.getScheme == "http") "http" else "https"
      ofProperties(scheme).map(_ -> set("http.nonProxyHosts", property).map(HostList.ofJvm))
        .orElse(ofVariables(scheme).map(_ -> either("no_proxy").map { case (_, text) => HostList.parse(text) }))
        .collect {
          case (proxy, ofProcess) if !direct.orElse(ofProcess).exists(_.matches(address)) => proxy
        }
    }

  /** The file with the certificates of authorities that AWS's tools trust. */
  def caBundle: Option[String] = set("AWS_CA_BUNDLE", variable)

  private def ofProperties(scheme: String): Option[Proxy] = set(s"$scheme.proxyHost", property).map { host =>
    val name = s"$scheme.proxyPort"
    val port = set(name, property).fold(Option(if (scheme == "http") 80 else 443))(text =>
      text.toIntOption.filter(number => number > 0 && number < 65536)
    ).getOrElse(throw invalid(s"system property $name", "It is not a number from 1 to 65535."))
    Proxy(
      Hosts.bare(host),
      port,
      secure = false,
      set(s"$scheme.proxyUser", property),
      set(s"$scheme.proxyPassword", property)
    )
  }

  private def ofVariables(scheme: String): Option[Proxy] = either(s"${scheme}_proxy").map { case (name, text) =>
    Proxy.parse(text).fold(why => throw invalid(s"environment variable $name", why), identity)
  }

  /** Returns the variable in lower case, as curl and botocore prefer it, or in upper case. */
  private def either(lower: String): Option[(String, String)] =
    Seq(lower, lower.toUpperCase).flatMap(name => set(name, variable).map(name -> _)).headOption

  private def set(name: String, source: String => Option[String]): Option[String] =
    source(name).map(_.trim).filter(_.nonEmpty)

  private def invalid(source: String, reason: String): KinesisConnectorException =
    ServiceErrors.proxyInvalid(source = source, reason = reason)
}

object ProxyEnvironment {

  /** The environment and the system properties of this process, as they are at each call. */
  val ofProcess: ProxyEnvironment =
    new ProxyEnvironment(name => sys.env.get(name), name => Try(sys.props.get(name)).toOption.flatten)
}
