package org.sparkkinesis.retry

import java.util.concurrent.ThreadLocalRandom

/** Source of the random part of pauses. Tests inject other numbers. */
object Jitter {

  /** Returns a new random number in `[0, 1)` with each call. Thread-safe. */
  val random: () => Double = () => ThreadLocalRandom.current().nextDouble()
}
