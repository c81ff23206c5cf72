package org.sparkkinesis.network

import java.net.InetAddress
import java.util.Locale

import scala.util.Try

/** Forms of host names. */
private[network] object Hosts {

  /** Returns the host in lower case, without the brackets of an IPv6 address and without the dot of the root. */
  def bare(host: String): String =
    host.toLowerCase(Locale.ROOT).stripPrefix("[").stripSuffix("]").stripSuffix(".")

  def inUrl(host: String): String = if (host.contains(':')) s"[$host]" else host

  /** Returns the bytes of an IP address, or nothing for a name. It never asks a name server. */
  def address(host: String): Option[Array[Byte]] =
    Option.when(host.contains(':') || host.matches("""\d{1,3}(\.\d{1,3}){3}"""))(host)
      .flatMap(literal => Try(InetAddress.getByName(literal).getAddress).toOption)
}
