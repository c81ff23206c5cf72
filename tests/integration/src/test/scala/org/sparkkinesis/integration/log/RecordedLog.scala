package org.sparkkinesis.integration.log

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.{LoggerConfig, Property}
import org.apache.logging.log4j.core.{LogEvent, LoggerContext}
import org.apache.logging.log4j.{Level, LogManager}

/** A line of the connector's log, with its logging context. */
final case class LogLine(level: Level, logger: String, text: String, context: Map[String, String]) {

  /** The message without the query's names in front of it. */
  def message: String = text.replaceFirst("^\\[[^\\]]*\\] ", "")
}

/**
 * Records the connector's log lines at DEBUG and above until it is closed.
 *
 * @param of
 *   part of the lines that are recorded, because background threads of an earlier query may still write lines
 */
final class RecordedLog(of: String = "") extends AutoCloseable {
  private val recorded = new ConcurrentLinkedQueue[LogLine]
  private val context = LogManager.getContext(false).asInstanceOf[LoggerContext]
  private val appender = new AbstractAppender("recorded", null, null, false, Property.EMPTY_ARRAY) {
    override def append(event: LogEvent): Unit = {
      val names = event.getContextData.toMap.asScala.toMap
      val text = event.getMessage.getFormattedMessage
      if (text.contains(of)) recorded.add(LogLine(event.getLevel, event.getLoggerName, text, names))
      ()
    }
  }
  appender.start()
  private val config = new LoggerConfig(RecordedLog.Name, Level.DEBUG, false)
  config.addAppender(appender, Level.DEBUG, null)
  context.getConfiguration.addLogger(RecordedLog.Name, config)
  context.updateLoggers()

  def lines: Vector[LogLine] = recorded.asScala.toVector

  /** The lines at INFO and above, which are visible by default. */
  def visible: Vector[LogLine] = lines.filter(_.level.isMoreSpecificThan(Level.INFO))

  override def close(): Unit = {
    context.getConfiguration.removeLogger(RecordedLog.Name)
    context.updateLoggers()
  }
}

object RecordedLog {
  private val Name = "org.sparkkinesis"
}
