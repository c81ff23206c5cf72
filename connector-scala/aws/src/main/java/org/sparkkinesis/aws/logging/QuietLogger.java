package org.sparkkinesis.aws.logging;

import org.slf4j.Logger;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.AbstractLogger;
import org.slf4j.spi.LoggingEventBuilder;

/** Passes messages of level INFO and above to another logger, and drops all others. Thread-safe. */
final class QuietLogger extends AbstractLogger {
  private static final long serialVersionUID = 1L;

  private final transient Logger logger;

  QuietLogger(Logger logger) {
    this.logger = logger;
    this.name = logger.getName();
  }

  @Override
  public boolean isTraceEnabled() {
    return false;
  }

  @Override
  public boolean isTraceEnabled(Marker marker) {
    return false;
  }

  @Override
  public boolean isDebugEnabled() {
    return false;
  }

  @Override
  public boolean isDebugEnabled(Marker marker) {
    return false;
  }

  @Override
  public boolean isInfoEnabled() {
    return logger.isInfoEnabled();
  }

  @Override
  public boolean isInfoEnabled(Marker marker) {
    return logger.isInfoEnabled(marker);
  }

  @Override
  public boolean isWarnEnabled() {
    return logger.isWarnEnabled();
  }

  @Override
  public boolean isWarnEnabled(Marker marker) {
    return logger.isWarnEnabled(marker);
  }

  @Override
  public boolean isErrorEnabled() {
    return logger.isErrorEnabled();
  }

  @Override
  public boolean isErrorEnabled(Marker marker) {
    return logger.isErrorEnabled(marker);
  }

  @Override
  protected String getFullyQualifiedCallerName() {
    return QuietLogger.class.getName();
  }

  /** Called by the methods of each level, after they have found that the level is enabled. */
  @Override
  protected void handleNormalizedLoggingCall(
      Level level, Marker marker, String message, Object[] arguments, Throwable thrown) {
    LoggingEventBuilder event = logger.makeLoggingEventBuilder(level).setCause(thrown);
    if (marker != null) {
      event = event.addMarker(marker);
    }
    if (arguments == null) {
      event.log(message);
    } else {
      event.log(message, arguments);
    }
  }

  @Override
  protected Object readResolve() {
    return QuietLoggerFactory.getLogger(name);
  }
}
