package org.sparkkinesis.network

import java.net.URI

import scala.concurrent.duration.{DurationInt, FiniteDuration}

import org.sparkkinesis.config.value.Transport

/**
 * How the calls of one client reach a service: proxy, time limits, connections and trusted authorities. Every call uses
 * it: those to Kinesis, Amazon Data Firehose, the Security Token Service and a metadata service. Immutable and
 * serializable, so that the driver can send it to executors; what it leaves open, each process takes from its own
 * environment when it makes a call. `toString` contains no secret.
 *
 * @param proxy
 *   where the proxy comes from
 * @param proxyUser
 *   user name for the proxy, instead of the one that comes with the proxy
 * @param nonProxyHosts
 *   hosts without a proxy; if empty, those of the environment, unless `proxy` names a proxy
 * @param maxConnections
 *   maximum number of requests in flight; each uses one connection. Subscriptions are not counted.
 * @param connectTimeout
 *   time limit for opening a connection, to a proxy or to the service
 * @param requestTimeout
 *   time limit of one request. Subscriptions have no such limit.
 * @param caFile
 *   PEM file with the certificates of the trusted authorities; if empty, `AWS_CA_BUNDLE`, else those of the JVM
 * @param transport
 *   what sends the calls to Kinesis that carry records
 */
final case class Network(
    proxy: ProxyChoice,
    proxyUser: Option[String],
    proxyPassword: Option[String],
    nonProxyHosts: Option[HostList],
    maxConnections: Int,
    connectTimeout: FiniteDuration,
    requestTimeout: FiniteDuration,
    caFile: Option[String],
    transport: Transport
) {

  /** Whether the clients of the AWS SDK send the calls that carry records. */
  def viaSdk: Boolean = transport == Transport.Sdk

  /**
   * Returns the proxy for calls to an address, or nothing if they go to the service directly.
   *
   * @throws KinesisConnectorException
   *   KINESIS_PROXY_INVALID if the environment names a proxy that cannot be used
   */
  def proxyFor(address: URI): Option[Proxy] = proxyFor(address, ProxyEnvironment.ofProcess)

  def proxyFor(address: URI, process: ProxyEnvironment): Option[Proxy] = {
    val found = proxy match {
      case ProxyChoice.OfEnvironment => process.proxyFor(address, nonProxyHosts)
      case ProxyChoice.Direct => None
      case ProxyChoice.Through(named) => Option.when(!nonProxyHosts.exists(_.matches(address)))(named)
    }
    found.map(one => proxyUser.fold(one)(user => one.copy(user = Some(user), password = proxyPassword)))
  }

  /** The PEM file with the trusted authorities, or nothing for those of the JVM. */
  def trustedFile: Option[String] = caFile.orElse(ProxyEnvironment.ofProcess.caBundle)

  override def toString: String =
    s"Network(proxy=$proxy, nonProxyHosts=${nonProxyHosts.fold("")(_.toString)}, maxConnections=$maxConnections, " +
      s"connectTimeout=$connectTimeout, requestTimeout=$requestTimeout, caFile=${caFile.getOrElse("")}, " +
      s"transport=$transport)"
}

object Network {

  /** The settings without any option. */
  val Standard: Network =
    Network(
      ProxyChoice.OfEnvironment,
      None,
      None,
      None,
      maxConnections = 256,
      5.seconds,
      30.seconds,
      None,
      Transport.Native
    )
}

/** Where the proxy of a client comes from. */
sealed trait ProxyChoice extends Product with Serializable

object ProxyChoice {

  /** The system properties and the environment of the process that makes the call. */
  case object OfEnvironment extends ProxyChoice {
    override def toString: String = "environment"
  }

  /** No proxy, whatever the environment says. */
  case object Direct extends ProxyChoice {
    override def toString: String = "none"
  }

  /** This proxy, also for loopback addresses. */
  final case class Through(named: Proxy) extends ProxyChoice {
    override def toString: String = named.toString
  }
}
