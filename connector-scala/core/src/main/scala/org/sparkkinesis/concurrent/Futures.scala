package org.sparkkinesis.concurrent

import java.util.concurrent.{CompletionException, ExecutionException}

import scala.annotation.tailrec

/** What is common to the use of Java's futures. */
object Futures {

  /** The failure itself, without the wrapping that dependent futures and `get` add. */
  @tailrec def unwrap(failure: Throwable): Throwable = failure match {
    case wrapped @ (_: CompletionException | _: ExecutionException) if wrapped.getCause != null =>
      unwrap(wrapped.getCause)
    case other => other
  }
}
