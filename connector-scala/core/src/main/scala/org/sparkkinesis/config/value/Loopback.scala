package org.sparkkinesis.config.value

import java.net.InetAddress

import scala.util.Try

/** Hosts that never leave this machine, for which plain http is accepted. */
object Loopback {

  /** Whether this is a loopback address or `localhost`. Other names can have any address, so they do not count. */
  def isHost(host: String): Boolean = host != null &&
    (host.equalsIgnoreCase("localhost") ||
      (host.matches("[\\d.]+|\\[.*\\]") && Try(InetAddress.getByName(host).isLoopbackAddress).getOrElse(false)))
}
