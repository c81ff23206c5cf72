package org.sparkkinesis.aws.logging;

import org.slf4j.ILoggerFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Replaces SLF4J's factory for the libraries in the connector's jar. Their debug logs contain request headers, and so
 * session tokens and signatures. The loggers of this factory never write below INFO, whatever level is configured.
 *
 * <p>The build renames the libraries' references to {@link LoggerFactory}, so no source refers to this class.
 */
public final class QuietLoggerFactory {
  private QuietLoggerFactory() {}

  /** Returns the quiet logger of a name, as {@link LoggerFactory#getLogger(String)}. */
  public static Logger getLogger(String name) {
    return new QuietLogger(LoggerFactory.getLogger(name));
  }

  /** Returns the quiet logger of a class, as {@link LoggerFactory#getLogger(Class)}. */
  public static Logger getLogger(Class<?> owner) {
    return new QuietLogger(LoggerFactory.getLogger(owner));
  }

  /** Returns a factory of quiet loggers, as {@link LoggerFactory#getILoggerFactory()}. */
  public static ILoggerFactory getILoggerFactory() {
    return QuietLoggerFactory::getLogger;
  }
}
