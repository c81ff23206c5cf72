package org.sparkkinesis.aws.client

import java.util.concurrent.CompletableFuture

import org.sparkkinesis.aws.transport.RawServer

/** Takes connections and requests, and never answers. Tells when a client has closed its connection. */
final class SilentServer extends AutoCloseable {

  /** Done when a request has begun to arrive. */
  val asked = new CompletableFuture[Unit]

  /** Done when the client has closed the connection. */
  val hungUp = new CompletableFuture[Unit]

  private val server = new RawServer({ client =>
    try {
      if (client.hasBegun()) asked.complete(())
      client.awaitEnd()
    } finally hungUp.complete(()): Unit
  })

  def port: Int = server.target.port

  override def close(): Unit = server.close()
}
