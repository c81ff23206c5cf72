package org.apache.spark.sparkkinesis

import java.util.concurrent.CompletableFuture

import scala.concurrent.ExecutionContext
import scala.util.Try

import org.apache.spark.rpc.{RpcAddress, RpcCallContext, RpcEndpointRef, RpcEnv, ThreadSafeRpcEndpoint}
import org.apache.spark.scheduler.ExecutorCacheTaskLocation
import org.apache.spark.util.RpcUtils
import org.apache.spark.{SparkContext, SparkEnv}

import org.sparkkinesis.spark.protocol.{DriverHandler, DriverPeer, Endpoint, ExecutorWire}

/**
 * Sends bytes between the driver and executors through Spark's RPC, with Spark's authentication and encryption.
 *
 * Only this object and [[MetricsSource]] use Spark's private API, and neither exposes a private type. Messages are
 * byte arrays and Spark's own references, because the class loader of the receiving RPC may not see the classes of a
 * jar that was added with `--packages`.
 */
object ClusterRpc {

  final private class RemotePeer(ref: RpcEndpointRef) extends DriverPeer {
    override def send(message: Array[Byte]): Unit = ref.send(message)

    override def deliver(message: Array[Byte]): Unit = {
      ref.askSync[Boolean](message)
      ()
    }

    override def register(message: Array[Byte], self: Endpoint): Unit = self match {
      case own: OpenEndpoint =>
        ref.askSync[Boolean]((message, own.ref))
        ()
      case other => throw new IllegalArgumentException(s"not an endpoint of this JVM: $other")
    }

    override def ping(executor: java.util.concurrent.Executor)(answer: Boolean => Unit): Unit =
      Try(ref.ask[Boolean](Array.emptyByteArray)).fold(
        _ => answer(false),
        _.onComplete(result => answer(result.isSuccess))(ExecutionContext.fromExecutor(executor))
      )
  }

  final private class OpenEndpoint(env: RpcEnv, val ref: RpcEndpointRef) extends Endpoint {
    override def close(): Unit = env.stop(ref)
  }

  /** Connects the executor of this JVM to the driver. */
  object OfExecutor extends ExecutorWire {
    override def executorId: String = SparkEnv.get.executorId
    override def executorHost: String = SparkEnv.get.blockManager.blockManagerId.host
    override def driver(name: String): DriverPeer = ClusterRpc.driver(name)
    override def open(name: String)(handler: Array[Byte] => Unit): Endpoint = openOnExecutor(name)(handler)
  }

  /** Opens an endpoint on the driver. The RPC calls `handler` with one message at a time. */
  def openOnDriver(name: String, handler: DriverHandler): Endpoint = open(name, new DriverEndpoint(_, handler))

  /** Opens an endpoint on an executor. The RPC calls `handler` with one message at a time. */
  def openOnExecutor(name: String)(handler: Array[Byte] => Unit): Endpoint =
    open(name, new ExecutorEndpoint(_, handler))

  /** Opens an endpoint on the driver that answers messages. `answer` must not block. */
  def openAnswering(name: String)(answer: Array[Byte] => CompletableFuture[Array[Byte]]): Endpoint =
    open(name, new AnsweringEndpoint(_, answer))

  /**
   * Sends a message to an endpoint of the driver that answers, and waits for the answer.
   *
   * @throws Exception
   *   of Spark's RPC if there is no such endpoint, no answer, or the endpoint has failed
   */
  def ask(name: String, message: Array[Byte]): Array[Byte] = {
    val spark = SparkEnv.get
    RpcUtils.makeDriverRef(name, spark.conf, spark.rpcEnv).askSync[Array[Byte]](message)
  }

  private def open(name: String, endpoint: RpcEnv => ThreadSafeRpcEndpoint): Endpoint = {
    val env = SparkEnv.get.rpcEnv
    new OpenEndpoint(env, env.setupEndpoint(name, endpoint(env)))
  }

  /** Returns the driver's endpoint of this name, from any JVM of the application. */
  def driver(name: String): DriverPeer = {
    val spark = SparkEnv.get
    new RemotePeer(RpcUtils.makeDriverRef(name, spark.conf, spark.rpcEnv))
  }

  /** Returns a preferred location that names one executor, not only its host. */
  def location(host: String, executorId: String): String = ExecutorCacheTaskLocation(host, executorId).toString

  /** Returns the number of tasks that can run at once: the cores of all executors divided by `spark.task.cpus`. */
  def slots(context: SparkContext): Int =
    context.maxNumConcurrentTasks(context.resourceProfileManager.defaultResourceProfile)

  /** Returns every executor that can run tasks now, as (id, host). In local mode this is the driver. */
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
        handler.onRegister(message, new RemotePeer(ref), context.senderAddress.toString)
        context.reply(true)
      case message: Array[Byte] =>
        // A ping has no content.
        if (message.nonEmpty) handler.onMessage(message)
        context.reply(true)
    }

    override def onDisconnected(address: RpcAddress): Unit = handler.onDisconnected(address.toString)
  }

  final private class AnsweringEndpoint(
      override val rpcEnv: RpcEnv,
      answer: Array[Byte] => CompletableFuture[Array[Byte]]
  ) extends ThreadSafeRpcEndpoint {
    override def receiveAndReply(context: RpcCallContext): PartialFunction[Any, Unit] = {
      case message: Array[Byte] =>
        answer(message).whenComplete { (bytes, failure) =>
          if (failure == null) context.reply(bytes) else context.sendFailure(failure)
        }
        ()
    }
  }

  final private class ExecutorEndpoint(override val rpcEnv: RpcEnv, handler: Array[Byte] => Unit)
      extends ThreadSafeRpcEndpoint {
    override def receive: PartialFunction[Any, Unit] = { case message: Array[Byte] => handler(message) }
  }
}
