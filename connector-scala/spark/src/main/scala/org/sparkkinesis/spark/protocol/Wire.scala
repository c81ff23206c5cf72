package org.sparkkinesis.spark.protocol

/** The other end of a connection; any thread may send. What is sent may be lost with the connection. */
trait Peer {
  def send(message: Array[Byte]): Unit
}

/** The driver's endpoint of one source, seen from an executor. */
trait DriverPeer extends Peer {

  /** Introduces an endpoint of this executor and waits until the driver has heard it. */
  def register(message: Array[Byte], self: Endpoint): Unit

  /** Tells whether the endpoint still answers, on the thread of `executor`. */
  def ping(executor: java.util.concurrent.Executor)(answer: Boolean => Unit): Unit
}

/** An endpoint that was opened in this process; close it once. */
trait Endpoint extends AutoCloseable

/** What the driver's endpoint hears, one call at a time, on a thread of the RPC that must not be blocked. */
trait DriverHandler {

  /** An executor introduces itself. `address` names its connection. */
  def onRegister(message: Array[Byte], peer: Peer, address: String): Unit
  def onMessage(message: Array[Byte]): Unit
  def onDisconnected(address: String): Unit
}

/** One executor's connections to the driver. */
trait ExecutorWire {
  def executorId: String
  def executorHost: String

  /** The driver's endpoint of this name. */
  def driver(name: String): DriverPeer

  /** `handler` hears messages one at a time. */
  def open(name: String)(handler: Array[Byte] => Unit): Endpoint
}
