package org.sparkkinesis.aws.error

import scala.util.control.NoStackTrace

/**
 * A call has failed for this reason before the service could receive the whole request, so that it had no effect. Only
 * between the transport and [[ErrorClassification]], which shows the reason in its place.
 */
final private[aws] class UnsentCall(val reason: Throwable) extends RuntimeException(reason) with NoStackTrace
