package org.sparkkinesis.aws.client

import java.lang.reflect.Proxy

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.service.KinesisService
import org.sparkkinesis.suite.TimedSuite

class ServiceClientsSuite extends TimedSuite {
  private class Setup {
    val closed = mutable.ArrayBuffer.empty[String]
    val timers = mutable.ArrayBuffer.empty[() => Unit]
    val clients = new ServiceClients[KinesisService](
      settings => service(settings.region.get),
      1.minute,
      (_, task) => timers.synchronized { timers += task; () }
    )
    def idle(): Unit = timers.toList.foreach(_())

    /** A service of which only `close` is called. */
    private def service(name: String): KinesisService = Proxy
      .newProxyInstance(
        getClass.getClassLoader,
        Array(classOf[KinesisService]),
        (_, method, _) => {
          if (method.getName == "close") closed += name
          null
        }
      )
      .asInstanceOf[KinesisService]
  }
  private val here = ClientSettings.of(Some("here"), None, CredentialSettings.DefaultChain)
  private val there = ClientSettings.of(Some("there"), None, CredentialSettings.DefaultChain)

  test("equal settings share one client, and other settings have another client") {
    val s = new Setup
    val first = s.clients.acquire(here)
    assert(s.clients.acquire(here.copy()).service eq first.service)
    assert(!(s.clients.acquire(there).service eq first.service))
    assert(s.clients.size == 2)
  }

  test("sessions whose classes for credentials have one name share no client") {
    val s = new Setup
    val name = classOf[SuppliedForTest].getName
    val settings = here.copy(credentials =
      CredentialSettings.AssumeRole(
        "arn:aws:iam::123456789012:role/r",
        "s",
        None,
        None,
        CredentialSettings.SuppliedBy(name)
      )
    )
    def acquired(): KinesisService = {
      val thread = Thread.currentThread
      val before = thread.getContextClassLoader
      thread.setContextClassLoader(new OwnClass(name, before))
      try s.clients.acquire(settings).service
      finally thread.setContextClassLoader(before)
    }
    val first = s.clients.acquire(settings).service
    val (second, third) = (acquired(), acquired())
    assert(!(first eq second) && !(second eq third))
    assert(s.clients.acquire(settings).service eq first)
  }

  /** Defines one class itself, as the class loader of a session does. */
  private class OwnClass(name: String, parent: ClassLoader) extends ClassLoader(parent) {
    override def loadClass(wanted: String, resolve: Boolean): Class[_] =
      if (wanted != name) super.loadClass(wanted, resolve)
      else Option(findLoadedClass(name)).getOrElse {
        val bytes = getParent.getResourceAsStream(name.replace('.', '/') + ".class").readAllBytes()
        defineClass(name, bytes, 0, bytes.length)
      }
  }

  test("a client is closed after it was unused for the idle time, and not before") {
    val s = new Setup
    val a = s.clients.acquire(here)
    val b = s.clients.acquire(here)
    a.close()
    a.close()
    s.idle()
    assert(s.closed.toSeq == Nil)
    b.close()
    assert(s.closed.toSeq == Nil)
    s.idle()
    assert(s.closed.toSeq == Seq("here"))
    assert(s.clients.size == 0)
  }

  test("a client that is used again within the idle time is not closed") {
    val s = new Setup
    s.clients.acquire(here).close()
    val again = s.clients.acquire(here)
    s.idle()
    assert(s.closed.toSeq == Nil)
    again.close()
    // The first timer is void. Only the timer of the last release counts.
    s.timers.head()
    assert(s.closed.toSeq == Nil)
    s.timers.last()
    assert(s.closed.toSeq == Seq("here"))
  }

  private def forget(clients: ServiceClients[KinesisService]): Unit = {
    clients.acquire(here)
    ()
  }

  test("an unclosed lease is returned when it is garbage collected") {
    val s = new Setup
    forget(s.clients)
    val deadline = 30.seconds.fromNow
    while (s.timers.synchronized(s.timers.isEmpty) && deadline.hasTimeLeft()) {
      System.gc()
      Thread.`yield`()
    }
    s.idle()
    assert(s.closed.toSeq == Seq("here"))
  }
}
