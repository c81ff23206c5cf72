package org.sparkkinesis.conformance.backend

import java.util.concurrent.atomic.AtomicInteger

import scala.collection.mutable
import scala.io.Source
import scala.util.Using

import org.scalactic.source
import org.scalatest.{BeforeAndAfterAll, BeforeAndAfterEach}
import software.amazon.awssdk.services.kinesis.model.DeleteStreamRequest

import org.sparkkinesis.conformance.client.{Calls, Subscription}
import org.sparkkinesis.suite.TimedSuite

/**
 * Runs a suite against one backend. The backend's known differences are listed as data, one line `test name | reason`
 * each, and these tests must fail: a difference that no longer exists fails the suite until its line is deleted.
 */
trait OnBackend extends BeforeAndAfterAll with BeforeAndAfterEach { self: TimedSuite =>

  /** Starts the backend, or returns the reason why it is not available. */
  protected def start(): Either[String, Backend]
  protected def backendName: String

  private var started: Either[String, Backend] = Left("not started")
  private var current: Calls = _
  private val opened = mutable.ArrayBuffer.empty[Subscription]
  private val streams = mutable.ArrayBuffer.empty[String]

  protected def backend: Backend = started.fold(reason => throw new AssertionError(reason), identity)
  protected def calls: Calls = current

  override def beforeAll(): Unit = {
    started = start()
    started match {
      case Right(up) => current = new Calls(up.client())
      case Left(reason) => println(s"${getClass.getSimpleName}: skipped, $reason")
    }
  }

  override def afterAll(): Unit = {
    if (current != null) current.client.close()
    started.foreach(_.close())
  }

  override def afterEach(): Unit = {
    opened.foreach(_.cancel())
    opened.clear()
    streams.foreach { name =>
      Calls.await(calls.client.deleteStream((r: DeleteStreamRequest.Builder) =>
        r.streamName(name).enforceConsumerDeletion(true)
      ))
    }
    streams.clear()
  }

  protected def track(subscription: Subscription): Subscription = {
    opened += subscription
    subscription
  }

  /** Creates an ACTIVE stream that is deleted after the test. */
  protected def newStream(shards: Int): String = {
    val name = OnBackend.newName()
    // CreateStream and DeleteStream are limited to five calls per second.
    if (backend.enforcesQuotas) backend.passTime(OnBackend.QuotaPause)
    calls.createStream(name, shards)
    streams += name
    name
  }

  private lazy val differences: Map[String, String] = OnBackend.differences(backendName)

  protected def conforms(name: String)(body: => Any)(implicit location: source.Position): Unit = test(name) {
    assume(started.isRight, started.left.getOrElse(""))
    differences.get(name) match {
      case None => body
      case Some(reason) =>
        val failed =
          try {
            body
            false
          } catch { case e: Throwable if !e.isInstanceOf[VirtualMachineError] => true }
        assert(failed, s"$backendName now conforms; delete the line in known-differences: $name ($reason)")
    }
  }
}

object OnBackend {
  import scala.concurrent.duration._

  private val QuotaPause = 1.second
  private val counter = new AtomicInteger
  private val run = java.lang.Long.toString(System.currentTimeMillis(), 36)

  def newName(): String = s"conformance-$run-${counter.incrementAndGet()}"

  /** Returns the reasons by test name from lines of `test name | reason`. */
  def differences(backend: String): Map[String, String] =
    Option(getClass.getResourceAsStream(s"/known-differences/$backend.txt")).fold(Map.empty[String, String]) { in =>
      Using.resource(Source.fromInputStream(in, "UTF-8")) { source =>
        source
          .getLines()
          .filterNot(line => line.isBlank || line.startsWith("#"))
          .map { line =>
            val Array(test, reason) = line.split('|').map(_.trim): @unchecked
            test -> reason
          }
          .toMap
      }
    }
}

/** Runs a suite against the project's emulator. */
trait OnOwn extends OnBackend { self: TimedSuite =>
  override protected def backendName: String = "own"
  override protected def start(): Either[String, Backend] = Right(new OwnBackend)
}
