package org.sparkkinesis.aws.http

import org.sparkkinesis.model.KinesisQuotas.{KiB, MiB}
import org.sparkkinesis.suite.TimedSuite
class HttpClientsSuite extends TimedSuite {
  private val windows: Seq[(Long, Int)] = Seq(
    128L * MiB -> 64 * KiB,
    512L * MiB -> 128 * KiB,
    1024L * MiB -> 256 * KiB,
    2048L * MiB -> 512 * KiB,
    65536L * MiB -> 512 * KiB
  )
  for ((memory, window) <- windows)
    test(s"the window of a subscription is ${window / KiB} KiB in a JVM of ${memory / MiB} MiB") {
      assert(HttpClients.subscriptionWindow(memory) == window)
    }
}
