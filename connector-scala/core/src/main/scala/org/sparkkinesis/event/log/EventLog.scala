package org.sparkkinesis.event.log

import org.slf4j.{Logger, LoggerFactory, MDC}

import org.sparkkinesis.event.{ConnectorEvent, EventLevel, EventSink}
import org.sparkkinesis.secret.Redaction

/**
 * Writes events to the log: to the logger of their subject (`org.sparkkinesis.event.query` and so on), at their level,
 * with the names of query, stream and shard in the line and in the logging context (MDC). Warnings are limited to one
 * per kind and stream in 30 seconds (for lost data: per kind, stream and shard). The next warning says how many were
 * suppressed.
 *
 * Two logs of the same query are equal, so that an object that several tasks share can log once per query.
 */
final class EventLog(
    private val context: QueryContext,
    limit: WarningLimit = WarningLimit.ofJvm,
    logger: String => Logger = LoggerFactory.getLogger(_)
) extends EventSink {
  override def equals(other: Any): Boolean = other match {
    case log: EventLog => log.context == context
    case _ => false
  }

  override def hashCode: Int = context.hashCode

  override def emit(event: ConnectorEvent): Unit = {
    val log = logger(event.subject.logger)
    event.level match {
      case EventLevel.Debug => if (log.isDebugEnabled) inContext(event)(log.debug(_, _))
      case EventLevel.Info => if (log.isInfoEnabled) inContext(event)(log.info(_, _))
      case EventLevel.Warn => if (log.isWarnEnabled) limit.admit((context.queryId, event.limitKey)).foreach {
          suppressed =>
            inContext(event) { (line, cause) =>
              log.warn(if (suppressed == 0) line else s"$line ($suppressed more since the last such warning)", cause)
            }
        }
    }
  }

  /** Restores the previous values of the MDC, because Spark names the query there too. */
  private def inContext(event: ConnectorEvent)(write: (String, Throwable) => Unit): Unit = {
    val keys = context.keys(event)
    val before = keys.map { case (key, _) => key -> MDC.get(key) }
    keys.foreach { case (key, value) => MDC.put(key, value) }
    try write(context.line(event), event.cause.map(Redaction.failure).orNull)
    finally before.foreach { case (key, value) => if (value == null) MDC.remove(key) else MDC.put(key, value) }
  }
}
