package org.sparkkinesis.event

import org.sparkkinesis.model.ShardId

/**
 * A change of state for logs, metrics and tests. There is no event for a single record or for a successful request.
 *
 * Every event is a case class of a sealed family (`QueryEvent`, `ShardEvent` …), and only this package can add
 * families. No event contains credentials, payloads or partition keys.
 */
abstract class ConnectorEvent private[event] (val subject: EventSubject) extends Product with Serializable {
  def level: EventLevel

  /** Name or ARN of the stream; empty if the event concerns the whole query. */
  def stream: Option[String]
  def shard: Option[ShardId] = None

  /** Describes the event in one or two English sentences, without the names of query, stream and shard. */
  def message: String

  /** Exception whose stack trace is logged. */
  def cause: Option[Throwable] = None

  /**
   * Warnings with equal keys share one rate limit in the log. By default, these are warnings of one class and stream.
   */
  def limitKey: Any = (getClass, stream)
}

/** Level at which an event is logged. */
sealed abstract class EventLevel

object EventLevel {

  /** Details for troubleshooting. */
  case object Debug extends EventLevel

  /** Events that an operator needs to reconstruct what a query did. */
  case object Info extends EventLevel

  /** Problems that the query survives and that an operator should notice. The log limits their rate. */
  case object Warn extends EventLevel
}

/** Subject of an event. Each subject has its own logger, so that log levels can be set separately. */
sealed abstract class EventSubject(val name: String) {
  def logger: String = s"org.sparkkinesis.event.$name"
}

object EventSubject {
  case object Query extends EventSubject("query")
  case object Shard extends EventSubject("shard")
  case object Executor extends EventSubject("executor")
  case object Subscription extends EventSubject("subscription")
  case object Service extends EventSubject("service")
  case object Write extends EventSubject("write")

  val all: Seq[EventSubject] = Seq(Query, Shard, Executor, Subscription, Service, Write)
}

/**
 * Receives events on the thread where they occur, or on a later one of their component. Implementations must be
 * thread-safe, must not block and must not throw. A writer to a sink holds none of its locks while it emits an event.
 */
trait EventSink {
  def emit(event: ConnectorEvent): Unit
}

object EventSink {

  /** Ignores every event. */
  val Discard: EventSink = _ => ()

  /** Passes each event to all `sinks` in their order. */
  def all(sinks: EventSink*): EventSink = event => sinks.foreach(_.emit(event))
}
