package org.sparkkinesis.sink.limit

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.sink.kinesis.KinesisSinkSettings
import org.sparkkinesis.sink.writer.AsyncSinkWriter
import org.sparkkinesis.sink.{
  AsyncSinkSettings, DeliveryFailedException, Item, RateLimitingFailedException, WaitingDestination
}
import org.sparkkinesis.suite.TimedSuite

/** A strategy of a user that violates its contract fails the writer or is corrected, and never blocks it forever. */
class CheckedRateLimitSuite extends TimedSuite {
  private class Broken extends RateLimit {
    def boom: Nothing = throw new IllegalStateException("my own fault")
    override def maxBatchSize: Int = 500
    override def acquire(wanted: Int, nowNanos: Long): Permit = Permit.grant(wanted)
    override def settled(outcome: RequestOutcome, nowNanos: Long): Unit = ()
    override def currentLimit: Double = 1
    override def close(): Unit = ()
  }

  private val settings =
    KinesisSinkSettings.of(Options.defaults).requests.copy(maxTimeInBuffer = 1.second, deliveryTimeout = 10.minutes)

  private class Rig(limit: RateLimit, settings: AsyncSinkSettings = settings) {
    val time = new VirtualScheduler
    val destination = new WaitingDestination
    val writer =
      new AsyncSinkWriter[Item](destination, limit, settings, settings.newBounds, time, () => 1.0)
  }

  private val strategies = Seq[(String, RateLimit)](
    "acquire" -> new Broken { override def acquire(wanted: Int, nowNanos: Long): Permit = boom },
    "acquire" -> new Broken { override def acquire(wanted: Int, nowNanos: Long): Permit = null },
    "settled" -> new Broken { override def settled(outcome: RequestOutcome, nowNanos: Long): Unit = boom }
  )

  strategies.zipWithIndex.foreach { case ((method, limit), i) =>
    test(s"an exception on a response or timer thread fails flush with class and method ($method, $i)") {
      val rig = new Rig(limit)
      rig.writer.write(Item(1))
      // The timer starts the request and the response settles it, so no thread of the user receives the exception.
      rig.time.advance(2.seconds)
      rig.destination.requests.foreach(_.accept())
      val error = intercept[RateLimitingFailedException](rig.writer.flush())
      assert(error.getMessage.contains(s"Broken") || error.getMessage.contains("CheckedRateLimitSuite"))
      assert(error.getMessage.contains(s".$method "))
    }
  }

  test("an exception on the writing thread fails that write and every later call") {
    val rig = new Rig(new Broken { override def maxBatchSize: Int = boom })
    intercept[RateLimitingFailedException](rig.writer.write(Item(1)))
    intercept[RateLimitingFailedException](rig.writer.write(Item(2)))
  }

  test("metrics and close work with a strategy that throws") {
    val rig = new Rig(new Broken {
      override def currentLimit: Double = boom
      override def close(): Unit = boom
    })
    assert(rig.writer.metrics.currentLimit == 0)
    rig.writer.close()
  }

  test("a strategy that waits for a response without requests in flight is asked again") {
    var asked = 0
    val rig = new Rig(new Broken {
      override def acquire(wanted: Int, nowNanos: Long): Permit = {
        asked += 1
        if (asked < 5) Permit.WaitForAnswer else Permit.grant(wanted)
      }
    })
    rig.writer.write(Item(1))
    rig.time.advance(2.seconds)
    assert(rig.destination.sent == Seq(Seq(1)))
  }

  test("a refused request starts after the waiting time, also if another alarm rings before") {
    Seq(1, 500).foreach { batchSize =>
      var asked = 0
      val rig = new Rig(
        new Broken {
          override def acquire(wanted: Int, nowNanos: Long): Permit = {
            asked += 1
            if (asked == 1) Permit.waitFor(5.seconds.toNanos) else Permit.grant(wanted)
          }
        },
        settings.copy(maxBatchSize = batchSize)
      )
      rig.writer.write(Item(1))
      // A full request is refused at once, and then the time in the buffer ends.
      rig.time.advance(7.seconds)
      assert(rig.destination.sent == Seq(Seq(1)), batchSize)
      assert(asked == 2, batchSize)
    }
  }

  test("a strategy that refuses without a waiting time does not make the timer spin") {
    var asked = 0
    val rig = new Rig(new Broken {
      override def acquire(wanted: Int, nowNanos: Long): Permit = {
        asked += 1
        Permit(0, 0)
      }
    })
    rig.writer.write(Item(1))
    rig.time.advance(2.seconds)
    assert(asked > 1 && asked <= 10001, asked)
  }

  test("a strategy that never grants a permit fails the writer after the delivery timeout") {
    val rig = new Rig(new Broken {
      override def acquire(wanted: Int, nowNanos: Long): Permit = Permit.WaitForAnswer
    })
    rig.writer.write(Item(1))
    rig.time.advance(11.minutes)
    intercept[DeliveryFailedException](rig.writer.flush())
  }

  test("a permit above the requested size does not enlarge requests") {
    val rig = new Rig(new Broken { override def acquire(wanted: Int, nowNanos: Long): Permit = Permit.grant(100000) })
    (1 to 501).foreach(n => rig.writer.write(Item(n)))
    assert(rig.destination.sent.map(_.size) == Seq(500))
  }
}
