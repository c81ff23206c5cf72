package org.apache.spark.sparkkinesis

import scala.concurrent.ExecutionContext
import scala.util.Try

import org.apache.spark.rpc.{RpcAddress, RpcCallContext, RpcEndpointRef, RpcEnv, ThreadSafeRpcEndpoint}
import org.apache.spark.scheduler.ExecutorCacheTaskLocation
import org.apache.spark.util.RpcUtils
import org.apache.spark.{SparkContext, SparkEnv}

/**
 * Spark's own RPC, with its authentication and encryption, for bytes between driver and executors.
 *
 * With [[MetricsSource]] all that touches Spark's private API; none of its types shows outside. Only bytes and Spark's own references
 * travel: the receiving side's deserializer may not see the classes of a jar that came with `--packages`.
 */
object ClusterRpc {

  /** The other end of a connection; any thread may send. What is sent may be lost with the connection. */
  final class Peer private[sparkkinesis] (private[sparkkinesis] val ref: RpcEndpointRef) {
    def send(message: Array[Byte]): Unit = ref.send(message)

    /** Introduces an endpoint of this JVM and waits until it was heard. */
    def register(message: Array[Byte], self: Registration): Unit = {
      ref.askSync[Boolean]((message, self.ref))
      ()
    }

    /** Tells whether the endpoint still answers, on the thread of `executor`. */
    def ping(executor: java.util.concurrent.Executor)(answer: Boolean => Unit): Unit =
      Try(ref.ask[Boolean](Array.emptyByteArray)).fold(
        _ => answer(false),
        _.onComplete(result => answer(result.isSuccess))(ExecutionContext.fromExecutor(executor))
      )
  }

  /** What the driver's endpoint hears, one call at a time, on a thread of the RPC that must not be held up. */
  trait DriverHandler {

    /** An executor introduces itself. `address` names its connection. */
    def onRegister(message: Array[Byte], peer: Peer, address: String): Unit
    def onMessage(message: Array[Byte]): Unit
    def onDisconnected(address: String): Unit
  }

  /** An endpoint that was opened here; close it once. */
  final class Registration private[sparkkinesis] (env: RpcEnv, private[sparkkinesis] val ref: RpcEndpointRef)
      extends AutoCloseable {
    override def close(): Unit = env.stop(ref)
  }

  def openOnDriver(name: String, handler: DriverHandler): Registration = open(name, new DriverEndpoint(_, handler))

  /** `handler` hears messages one at a time. */
  def openOnExecutor(name: String)(handler: Array[Byte] => Unit): Registration =
    open(name, new ExecutorEndpoint(_, handler))

  private def open(name: String, endpoint: RpcEnv => ThreadSafeRpcEndpoint): Registration = {
    val env = SparkEnv.get.rpcEnv
    new Registration(env, env.setupEndpoint(name, endpoint(env)))
  }

  /** The driver's endpoint of this name, seen from any JVM of the application. */
  def driver(name: String): Peer = {
    val spark = SparkEnv.get
    new Peer(RpcUtils.makeDriverRef(name, spark.conf, spark.rpcEnv))
  }

  def executorId: String = SparkEnv.get.executorId
  def executorHost: String = SparkEnv.get.blockManager.blockManagerId.host

  /** A preferred location that means one executor, not just its host. */
  def location(host: String, executorId: String): String = ExecutorCacheTaskLocation(host, executorId).toString

  /** Every executor that can run tasks now, as (id, host); in local mode that is the driver. */
  def executors(context: SparkContext): Seq[(String, String)] = {
    val own = context.env.blockManager.blockManagerId
    if (context.isLocal) Seq((own.executorId, own.host))
    else context.env.blockManager.master.getPeers(own).map(id => (id.executorId, id.host))
  }

  final private class DriverEndpoint(override val rpcEnv: RpcEnv, handler: DriverHandler)
      extends ThreadSafeRpcEndpoint {
    override def receive: PartialFunction[Any, Unit] = { case message: Array[Byte] => handler.onMessage(message) }

    override def receiveAndReply(context: RpcCallContext): PartialFunction[Any, Unit] = {
      case (message: Array[Byte], ref: RpcEndpointRef) =>
        handler.onRegister(message, new Peer(ref), context.senderAddress.toString)
        context.reply(true)
      case _: Array[Byte] => context.reply(true)
    }

    override def onDisconnected(address: RpcAddress): Unit = handler.onDisconnected(address.toString)
  }

  final private class ExecutorEndpoint(override val rpcEnv: RpcEnv, handler: Array[Byte] => Unit)
      extends ThreadSafeRpcEndpoint {
    override def receive: PartialFunction[Any, Unit] = { case message: Array[Byte] => handler(message) }
  }
}
