package org.sparkkinesis.spark.read

import scala.concurrent.duration._

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.concurrent.{Clock, VirtualScheduler}
import org.sparkkinesis.plan.{MinimumRecords, ReadLimits}
import org.sparkkinesis.spark.connection.ServiceClock
import org.sparkkinesis.spark.coordinator.CoordinatorFixture
import org.sparkkinesis.spark.protocol.ShardReport

/** Tests what the planner waits for before it first answers that there is nothing to read. */
class TriggerPlannerSuite extends CoordinatorFixture {
  private val Second = 1_700_000_000_000L

  test("records that arrived in the second of the start belong to the first answer") {
    withSetup("driver") { s =>
      s.coordinator.advance(start)
      val epochs = s.assigned().map { case (shard, (_, epoch)) => shard.shard -> epoch }
      val arrival = Second + 600

      /** Reports a shard as read up to a time, with 25 rows or without. */
      def tell(index: Int, hasRows: Boolean, readUpToMillis: Long, behindMillis: Long): Unit = {
        val chunk = ChunkSummary(number(index + 1), 25, 25, arrival, arrival, arrival, 0)
        val chunks = if (hasRows) Vector(chunk) else Vector.empty
        s("driver").tell(ShardReport(
          shard(index),
          epochs(id(index)),
          chunks,
          1,
          readUpToMillis,
          behindMillis,
          None,
          None
        ))
      }
      // The service answers with whole seconds: its clock may be anywhere within the second.
      val own = new VirtualScheduler(Second)
      val service = new ServiceClock(own)
      service.heard(Second, own.nanoTime)
      (3 to 0 by -1).foreach(index => tell(index, hasRows = index == 0, Second + 100, 500))
      rows(s)(25)
      // The rest of the second is fetched after the planner has looked at the shards for the first time.
      val clock = new Clock {
        private var calls = 0
        override def nanoTime: Long = {
          calls += 1
          // Shard 3 is at its tip, which tells more than the bounds of the service's clock.
          if (calls == 4) {
            (0 until 3).foreach(index => tell(index, hasRows = index == 1, Second + 2000, 500))
            tell(3, hasRows = false, Second + 700, 0)
          }
          own.nanoTime
        }
        override def currentMillis: Long = own.currentMillis
      }
      val minimum = MinimumRecords(50, Long.MaxValue)
      val planner =
        new TriggerPlanner(s.coordinator.prefetched, ReadLimits.Unlimited, Some(minimum), service, _ => 0L, clock)
      assert(planner.plan(start, allAvailable = false).map(_.rows).contains(50L))
    }
  }

  test("the first answer does not wait for long for a shard that does not answer") {
    withSetup("driver") { s =>
      s.coordinator.advance(start)
      s.assigned()
      val own = new VirtualScheduler(Second)
      val clock = new Clock {
        override def nanoTime: Long = {
          own.advance(10.seconds)
          own.nanoTime
        }
        override def currentMillis: Long = own.currentMillis
      }
      val planner =
        new TriggerPlanner(s.coordinator.prefetched, ReadLimits.Unlimited, None, new ServiceClock(own), _ => 0L, clock)
      assert(planner.plan(start, allAvailable = false).isEmpty)
    }
  }
}
