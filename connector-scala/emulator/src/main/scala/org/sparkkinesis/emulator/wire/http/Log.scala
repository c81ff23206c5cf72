package org.sparkkinesis.emulator.wire.http

import java.io.IOException

import io.netty.channel.ChannelHandlerContext
import org.slf4j.LoggerFactory

/** The log messages of the wire. */
private[wire] object Log {
  private val log = LoggerFactory.getLogger("org.sparkkinesis.emulator")

  /**
   * Logs the failure of a connection: a lost connection at DEBUG, since clients may disconnect at any time, all other
   * failures at WARN.
   */
  def channelFailed(ctx: ChannelHandlerContext, cause: Throwable): Unit = cause match {
    case e: IOException => log.debug("A client's connection {} was lost: {}", ctx.channel, e.getMessage: Any)
    case e => log.warn(s"A request on ${ctx.channel} failed", e)
  }

  def requestFailed(operation: String, cause: Throwable): Unit =
    log.error(s"$operation failed inside the emulator", cause)
}
