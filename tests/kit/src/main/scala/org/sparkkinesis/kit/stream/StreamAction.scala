package org.sparkkinesis.kit.stream

/** One step of a stream test. Its text is what the failure of a test shows. */
trait StreamAction {

  /** Does what the action says, and returns when it is done; throws when that fails or an expectation does not hold. */
  private[stream] def run(in: StreamRun): Unit
}

/** A test of a stream failed; the message tells the action, those before and after it, and what the query reported. */
final class StreamTestFailure(message: String, cause: Throwable) extends AssertionError(message, cause)
