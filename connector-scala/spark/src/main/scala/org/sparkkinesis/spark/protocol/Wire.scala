package org.sparkkinesis.spark.protocol

/** The other end of a connection. Any thread may send. A message can be lost with the connection. */
trait Peer {
  def send(message: Array[Byte]): Unit
}

/** The driver's endpoint of one source, seen from an executor. */
trait DriverPeer extends Peer {

  /**
   * Sends a message and waits until the driver has handled it. If that is unknown, it fails with an exception of
   * Spark's RPC.
   */
  def deliver(message: Array[Byte]): Unit

  /** Registers an endpoint of this executor and waits for the driver's acknowledgement. */
  def register(message: Array[Byte], self: Endpoint): Unit

  /** Passes to `answer` whether the endpoint still responds, on a thread of `executor`. */
  def ping(executor: java.util.concurrent.Executor)(answer: Boolean => Unit): Unit
}

/** An endpoint that this process opened; close it once. */
trait Endpoint extends AutoCloseable

/** Receives the messages of the driver's endpoint, one at a time, on an RPC thread that must not be blocked. */
trait DriverHandler {

  /** Called when an executor registers. `address` identifies its connection. */
  def onRegister(message: Array[Byte], peer: Peer, address: String): Unit
  def onMessage(message: Array[Byte]): Unit
  def onDisconnected(address: String): Unit
}

/** Connects one executor to the driver. */
trait ExecutorWire {
  def executorId: String
  def executorHost: String

  /** Returns the driver's endpoint of this name. */
  def driver(name: String): DriverPeer

  /** Opens an endpoint in this executor. `handler` receives one message at a time. */
  def open(name: String)(handler: Array[Byte] => Unit): Endpoint
}
