package org.sparkkinesis.event.log

import org.sparkkinesis.event.ConnectorEvent
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.secret.Redaction

/**
 * Identifies the query in log lines. Serializable, so that the driver can send it to executors.
 *
 * @param queryId
 *   id of the query, which does not change when it restarts from its checkpoint; empty for a batch read
 * @param runId
 *   id of this run of the query
 * @param name
 *   name that the user gave the query
 * @param streams
 *   names or ARNs of the query's streams, for events that concern all of them
 */
final case class QueryContext(
    queryId: Option[String] = None,
    runId: Option[String] = None,
    name: Option[String] = None,
    streams: Seq[String] = Nil
) {

  /** The name of the query, else its id; `batch` for a batch read. */
  def label: String = name.orElse(queryId).getOrElse("batch")

  /** Formats an event as one line: names in brackets, then the message without line breaks and secrets. */
  def line(event: ConnectorEvent): String = {
    val named = Seq(
      "name" -> name,
      "query" -> queryId,
      "run" -> runId,
      "stream" -> streamNames(event),
      "shard" -> event.shard.map(_.value)
    ).collect { case (key, Some(value)) => s"$key=$value" }
    val context = if (named.isEmpty) "" else named.mkString("[", " ", "] ")
    Redaction.text(context + event.message).replaceAll("\\s*[\\r\\n]+\\s*", " ")
  }

  /** Returns keys and values for the MDC. The keys are those of Spark's structured log. */
  def keys(event: ConnectorEvent): Seq[(String, String)] = Seq(
    "query_id" -> queryId,
    "run_id" -> runId,
    "stream_name" -> streamNames(event),
    "shard_id" -> event.shard.map(_.value)
  ).collect { case (key, Some(value)) => key -> value }

  private def streamNames(event: ConnectorEvent): Option[String] = {
    val of = event.stream.fold(streams)(Seq(_)).map(stream => StreamRef.parse(stream).fold(stream)(_.name))
    val more = of.size - QueryContext.MaxNamed
    Option.when(of.nonEmpty)(of.take(QueryContext.MaxNamed).mkString(",") + (if (more > 0) s",+$more" else ""))
  }
}

object QueryContext {
  private val MaxNamed = 5

  /** For objects that several queries of a JVM share, such as clients. */
  val Unknown: QueryContext = QueryContext()
}
