package org.sparkkinesis.retry

import java.util.concurrent.ThreadLocalRandom

/** The source of the random part of pauses; tests give numbers of their own. */
object Jitter {

  /** A number from 0 until 1, another one with each call. Thread-safe. */
  val random: () => Double = () => ThreadLocalRandom.current().nextDouble()
}
