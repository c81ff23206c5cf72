package org.sparkkinesis.event

import org.sparkkinesis.model.ShardId

/**
 * A change of state that an operator, a counter or a test may want to know of. No event is made for each record, and
 * none for a request that succeeded.
 *
 * Every event is a case class of a sealed family (`QueryEvent`, `ShardEvent` …), and only this package can add families.
 * No event holds credentials, payloads or partition keys.
 */
abstract class ConnectorEvent private[event] (val subject: EventSubject) extends Product with Serializable {
  def level: EventLevel

  /** The name or ARN of the stream; empty for an event that concerns the whole query. */
  def stream: Option[String]
  def shard: Option[ShardId] = None

  /** What happened, in one English sentence or two, without the names of query, stream and shard. */
  def message: String

  /** An exception whose stack trace belongs into the log. */
  def cause: Option[Throwable] = None

  /** The warnings with equal keys share one rate limit in the log: by default those of one class and stream. */
  def limitKey: Any = (getClass, stream)
}

/** Decides whether an operator sees an event by default. */
sealed abstract class EventLevel

object EventLevel {

  /** Details for finding the cause of a problem. */
  case object Debug extends EventLevel

  /** What an operator needs to reconstruct what a query did. */
  case object Info extends EventLevel

  /** Something that the query survives, and that an operator should know of at once. Rate-limited in the log. */
  case object Warn extends EventLevel
}

/** What an event is about. Each subject has a logger of its own, so that log levels can be set for each. */
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

/** Receives events where they happen, on any thread. Must be thread-safe, must not block and must not throw. */
trait EventSink {
  def emit(event: ConnectorEvent): Unit
}

object EventSink {

  /** Ignores every event. */
  val Discard: EventSink = _ => ()

  /** Passes each event on to all of `sinks`, in their order. */
  def all(sinks: EventSink*): EventSink = event => sinks.foreach(_.emit(event))
}
