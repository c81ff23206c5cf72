package org.sparkkinesis.emulator

import java.net.{InetAddress, InetSocketAddress, UnknownHostException}

import org.sparkkinesis.error.{EmulatorErrors, KinesisConnectorException}

/**
 * Where an emulator listens.
 *
 * @param socket
 *   the address and the port; port 0 takes a free one
 */
final private class ListenAddress private (host: String, val socket: InetSocketAddress) {
  private def address: InetAddress = socket.getAddress

  /** Whether only programs of this machine reach the emulator. */
  def isLoopback: Boolean = address.isLoopbackAddress

  /** The host of the endpoint for programs of this machine. */
  def reachedAt: String =
    if (address.isAnyLocalAddress) EmulatorConfig.Loopback else if (host.contains(':')) s"[$host]" else host

  /** What a certificate must name beside the loopback interface. For all interfaces it is the name of this machine. */
  def certificateNames: Seq[String] =
    if (isLoopback) Nil
    else if (address.isAnyLocalAddress) Seq(s"dns:${InetAddress.getLocalHost.getHostName}")
    else Seq(s"ip:${address.getHostAddress}") ++ Option.when(!isLiteral)(s"dns:$host")

  private def isLiteral: Boolean = host.contains(':') || host.forall(c => c.isDigit || c == '.')
}

private object ListenAddress {

  /**
   * @throws KinesisConnectorException
   *   if the host is unknown, or if others could reach an emulator without credentials
   */
  def of(config: EmulatorConfig): ListenAddress = {
    val address =
      try InetAddress.getByName(config.host)
      catch {
        case _: UnknownHostException => throw failed(
            config,
            "the host is unknown",
            "Give an address or a name of this machine, such as 127.0.0.1, or 0.0.0.0 for all of its interfaces."
          )
      }
    val listensOn = new ListenAddress(config.host, new InetSocketAddress(address, config.port))
    if (!listensOn.isLoopback && config.credentials.isEmpty) throw failed(
      config,
      "other machines could read and change its streams without credentials",
      "Give the emulator credentials (--credentials ID:SECRET) or accounts (--accounts N), or listen on 127.0.0.1."
    )
    listensOn
  }

  private def failed(config: EmulatorConfig, reason: String, fix: String): KinesisConnectorException =
    EmulatorErrors.failed(what = s"cannot listen on ${config.host}", reason = reason, fix = fix)
}
