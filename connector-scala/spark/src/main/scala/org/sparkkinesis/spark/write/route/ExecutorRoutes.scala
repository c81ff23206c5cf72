package org.sparkkinesis.spark.write.route

import java.util.LinkedHashMap
import java.util.concurrent.atomic.AtomicBoolean

import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.apache.spark.sparkkinesis.ClusterRpc

import org.sparkkinesis.aws.client.ClientSettings
import org.sparkkinesis.concurrent.{Clock, SystemClock, SystemScheduler}
import org.sparkkinesis.event.{EventSink, RoutesNotAsked}
import org.sparkkinesis.json.Json
import org.sparkkinesis.metadata.DocumentParser
import org.sparkkinesis.sink.route.{RouteNews, Routes}
import org.sparkkinesis.spark.protocol.{NewerRoutes, ProtocolCodec, RoutesWanted}

/**
 * The routes of one write in one executor: those of its plan, and newer ones once a task has asked the driver for them.
 * Tasks of the same write that start later begin with the newer ones. Thread-safe.
 *
 * @param ask
 *   asks the driver, and blocks until it has answered
 * @param execute
 *   runs a question on another thread
 */
final private[write] class ExecutorRoutes(
    planned: RoutePlan,
    address: RouteDesk.Address,
    base: ClientSettings,
    ask: Array[Byte] => Array[Byte],
    execute: Runnable => Unit,
    clock: Clock,
    events: EventSink
) extends RouteNews {
  import ExecutorRoutes._

  final private class Known(val revision: Long, val plan: RoutePlan) {
    val routes: Option[Routes] = Option.when(plan ne planned)(plan.routes)
  }

  @volatile private var known = new Known(address.revision, planned)
  private val isAsking = new AtomicBoolean
  @volatile private var answeredNanos = clock.nanoTime - AskEvery.toNanos
  @volatile private var hasFailed = false

  /** The newest plan. */
  def plan: RoutePlan = known.plan

  override def routes: Option[Routes] = known.routes

  override def wanted(): Unit =
    if (clock.nanoTime - answeredNanos >= AskEvery.toNanos && isAsking.compareAndSet(false, true))
      execute { () =>
        try {
          val message = ProtocolCodec.encode(RoutesWanted(address.epoch, known.revision))
          ProtocolCodec.decodeNewerRoutes(ask(message)).foreach(take)
          hasFailed = false
        } catch {
          case NonFatal(failure) =>
            if (!hasFailed) events.emit(RoutesNotAsked(String.valueOf(failure.getMessage)))
            hasFailed = true
        } finally {
          answeredNanos = clock.nanoTime
          isAsking.set(false)
        }
      }

  private def take(newer: NewerRoutes): Unit = {
    val document = Json.parse(newer.document).flatMap(DocumentParser.recorded)
      .fold(why => throw new IllegalArgumentException(s"the driver's routes cannot be read: $why"), identity)
    val plan = planned.copy(
      routes = Routes.of(document),
      connections = newer.connections.toMap.view.mapValues(_.client(base)).toMap,
      mustBeOwn = newer.mustBeOwn.toSet
    )
    known = new Known(newer.revision, plan)
  }
}

private[write] object ExecutorRoutes {
  private val AskEvery = 1.second
  private val Kept = 64
  private lazy val asking = new SystemScheduler("kinesis-ask-routes", 1)

  /** By the write, the last used last. */
  private val ofWrites = new LinkedHashMap[RouteDesk.Address, ExecutorRoutes](Kept, 0.75f, true) {
    override protected def removeEldestEntry(eldest: java.util.Map.Entry[RouteDesk.Address, ExecutorRoutes]) =
      size > Kept
  }

  /** The routes of a write in this executor. */
  def of(planned: RoutePlan, address: RouteDesk.Address, base: ClientSettings, events: EventSink): ExecutorRoutes =
    ofWrites.synchronized {
      ofWrites.computeIfAbsent(
        address,
        _ =>
          new ExecutorRoutes(
            planned,
            address,
            base,
            ClusterRpc.ask(address.name, _),
            asking.execute(_),
            SystemClock,
            events
          )
      )
    }
}
