package org.sparkkinesis.aws.transport

import java.net.{InetAddress, InetSocketAddress}
import java.util.concurrent.{ExecutorService, LinkedBlockingQueue, ThreadLocalRandom, ThreadPoolExecutor, TimeUnit}

import io.netty.resolver.{AddressResolver, AddressResolverGroup, InetNameResolver}
import io.netty.util.concurrent.{DefaultThreadFactory, EventExecutor, Promise}

/**
 * Resolves host names with the JDK, and its cache, on threads of its own: a name server that does not answer must not
 * delay the connections that are open. The addresses of a host take turns.
 */
private[transport] object HostNames extends AddressResolverGroup[InetSocketAddress] {
  private val MaxThreads = 4

  private lazy val threads: ExecutorService = {
    val pool = new ThreadPoolExecutor(
      MaxThreads,
      MaxThreads,
      10,
      TimeUnit.SECONDS,
      new LinkedBlockingQueue[Runnable],
      new DefaultThreadFactory("kinesis-host-names", true)
    )
    pool.allowCoreThreadTimeOut(true)
    pool
  }

  override protected def newResolver(executor: EventExecutor): AddressResolver[InetSocketAddress] =
    new Names(executor).asAddressResolver()

  /** Returns one of the addresses of the family that the JDK prefers. */
  private def address(host: String): InetAddress = {
    val all = InetAddress.getAllByName(host)
    val preferred = all.filter(_.getClass == all.head.getClass)
    preferred(ThreadLocalRandom.current.nextInt(preferred.length))
  }

  final private class Names(executor: EventExecutor) extends InetNameResolver(executor) {
    override protected def doResolve(host: String, promise: Promise[InetAddress]): Unit = threads.execute { () =>
      try promise.setSuccess(address(host))
      catch { case error: Throwable => promise.setFailure(error) }
      ()
    }

    override protected def doResolveAll(host: String, promise: Promise[java.util.List[InetAddress]]): Unit =
      threads.execute { () =>
        try promise.setSuccess(java.util.Arrays.asList(InetAddress.getAllByName(host): _*))
        catch { case error: Throwable => promise.setFailure(error) }
        ()
      }
  }
}
