package org.sparkkinesis.integration.write.route

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

/** The end of the requests to the metadata service with the query that needs them. */
class RouteBookEndSuite extends RoutedFixture {

  /** The threads that ask a metadata service. */
  private def asking: Set[Thread] =
    Thread.getAllStackTraces.keySet.asScala.filter(_.getName.startsWith("kinesis-metadata")).toSet

  private def awaitEnd(of: Set[Thread]): Unit = of.foreach { thread =>
    thread.join(2.minutes.toMillis)
    assert(!thread.isAlive, s"${thread.getName} goes on")
  }

  test("the sink of a query that has ended does not ask the metadata service any more, and a new run asks again") {
    create("ended")
    publish(1, active(arn("ended")))
    // Without micro-batches, the sink would go on for five of these intervals.
    val numbers = new Numbers("metadataRefreshInterval" -> "1h")
    (1 to 2).foreach { run =>
      val before = asking
      val query = numbers.start()
      numbers.add(10)
      query.processAllAvailable()
      val threads = asking -- before
      assert(threads.nonEmpty, s"run $run asks the service")
      query.stop()
      awaitEnd(threads)
    }
    assert(texts(stored("ended")).sorted == numbers.expected.sorted)
  }
}
