package org.sparkkinesis.kit.stream

/** One step of a stream test. `toString` appears in the message of a failed test. */
trait StreamAction {

  /** Runs the action and returns when it is done. Throws when it fails or an expectation does not hold. */
  private[stream] def run(in: StreamRun): Unit
}

/** A failed stream test. The message contains the action, those before and after it, and the query's report. */
final class StreamTestFailure(message: String, cause: Throwable) extends AssertionError(message, cause)
