package org.sparkkinesis.network

import java.net.URI
import java.util.regex.Pattern

/**
 * Hosts that are reached without a proxy. It has the form of `NO_PROXY`, as curl and botocore read it:
 *
 *   - `example.com`, `.example.com` and `*.example.com` match the domain and all names below it,
 *   - `10.1.2.3` and `[::1]` match the address, `10.0.0.0/8` and `fd00::/8` all addresses of the network,
 *   - `*` at the start or end of an entry matches any text, and `*` alone all hosts,
 *   - an entry that ends in `:443` matches only this port.
 *
 * Names are not resolved.
 */
final case class HostList(private[network] val entries: Seq[HostList.Entry]) {

  /** Whether an entry matches the host and the port of the address. */
  def matches(address: URI): Boolean = {
    val host = Hosts.bare(Option(address.getHost).getOrElse(""))
    val port = if (address.getPort >= 0) address.getPort else if (address.getScheme == "http") 80 else 443
    entries.exists(_.matches(host, port))
  }

  override def toString: String = entries.mkString(",")
}

object HostList {
  val empty: HostList = HostList(Nil)

  /** Reads the form of `NO_PROXY`: entries separated by commas, spaces or `|`. */
  def parse(text: String): HostList = HostList(split(text, "[,|\\s]+").map(entry))

  /**
   * Reads the form of the system property `http.nonProxyHosts`: entries separated by `|`, which match the whole name,
   * with `*` for any text at the start or the end.
   */
  def ofJvm(text: String): HostList = HostList(split(text, "\\|").map { pattern =>
    if (pattern.contains('*')) Glob(pattern, None) else Exact(pattern)
  })

  private def split(text: String, separator: String): Seq[String] =
    text.split(separator).iterator.map(_.trim).filter(_.nonEmpty).toSeq

  private val WithPort = """(\[[^]]+]|[^:]+):(\d{1,5})""".r
  private val WithBits = """(.+)/(\d{1,3})""".r

  private def entry(text: String): Entry = {
    val (host, port) = text match {
      case WithPort(name, number) => (name, Some(number.toInt))
      case name => (name, None)
    }
    val name = Hosts.bare(host)
    (name, name) match {
      case ("*", _) => Glob("*", port)
      case (WithBits(network, bits), _) if Hosts.address(network).exists(_.length * 8 >= bits.toInt) =>
        Block(network, bits.toInt, port)
      case _ if name.stripPrefix("*.").contains('*') => Glob(name, port)
      case _ if Hosts.address(name).nonEmpty => Block(name, Hosts.address(name).fold(0)(_.length * 8), port)
      case _ => Domain(name.stripPrefix("*").stripPrefix("."), port)
    }
  }

  sealed private[network] trait Entry extends Product with Serializable {
    def matches(host: String, port: Int): Boolean
  }

  final private case class Exact(text: String) extends Entry {
    override def matches(host: String, port: Int): Boolean = Hosts.bare(text) == host
    override def toString: String = text
  }

  final private case class Glob(text: String, only: Option[Int]) extends Entry {
    @transient private lazy val pattern =
      Pattern.compile(Hosts.bare(text).split("\\*", -1).map(Pattern.quote).mkString(".*"))
    override def matches(host: String, port: Int): Boolean = only.forall(_ == port) && pattern.matcher(host).matches
    override def toString: String = text + suffix(only)
  }

  final private case class Domain(name: String, only: Option[Int]) extends Entry {
    override def matches(host: String, port: Int): Boolean =
      only.forall(_ == port) && (host == name || host.endsWith(s".$name"))
    override def toString: String = name + suffix(only)
  }

  /** The addresses whose first `bits` bits are those of `network`. */
  final private case class Block(network: String, bits: Int, only: Option[Int]) extends Entry {
    override def matches(host: String, port: Int): Boolean = only.forall(_ == port) && (
      for (own <- Hosts.address(network); other <- Hosts.address(host))
        yield own.length == other.length &&
          (BigInt(1, own) >> (own.length * 8 - bits)) == (BigInt(1, other) >> (own.length * 8 - bits))
    ).contains(true)
    override def toString: String = s"${Hosts.inUrl(network)}/$bits" + suffix(only)
  }

  private def suffix(only: Option[Int]): String = only.fold("")(port => s":$port")
}
