package org.sparkkinesis.concurrent

import java.util.concurrent.{CompletionException, ExecutionException}

import scala.annotation.tailrec

/** Functions for Java's futures. */
object Futures {

  /** Returns the original exception without the wrappers that dependent futures and `get` add. */
  @tailrec def unwrap(failure: Throwable): Throwable = failure match {
    case wrapped @ (_: CompletionException | _: ExecutionException) if wrapped.getCause != null =>
      unwrap(wrapped.getCause)
    case other => other
  }
}
