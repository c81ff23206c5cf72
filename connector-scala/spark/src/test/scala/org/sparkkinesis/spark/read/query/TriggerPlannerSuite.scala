package org.sparkkinesis.spark.read.query

import scala.concurrent.duration._

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.concurrent.{Clock, VirtualScheduler}
import org.sparkkinesis.model.ShardId
import org.sparkkinesis.plan.{MinimumRecords, ReadLimits}
import org.sparkkinesis.spark.connection.ServiceClock
import org.sparkkinesis.spark.coordinator.CoordinatorFixture
import org.sparkkinesis.spark.protocol.ShardReport

/** Tests what the planner waits for before it first answers that there is nothing to read. */
class TriggerPlannerSuite extends CoordinatorFixture {
  private val Second = 1_700_000_000_000L

  private val arrival = Second + 600

  /** Reports 25 rows of a shard, or none, and how far it was read. */
  private def tell(
      s: Setup,
      epochs: Map[ShardId, Long],
      index: Int,
      last: Option[Int],
      upTo: Long,
      behind: Long
  ): Unit = {
    val chunks = last.map(value => ChunkSummary(number(value), 25, 25, arrival, arrival, arrival, 0)).toVector
    val open = if (chunks.isEmpty && behind == 0) upTo else 0
    s("driver").tell(ShardReport(shard(index), epochs(id(index)), chunks, 1, upTo, behind, None, None, open))
  }

  private def epochs(s: Setup): Map[ShardId, Long] = s.assigned().map { case (shard, (_, epoch)) =>
    shard.shard -> epoch
  }

  /** A clock that calls `read` with the number of each reading. */
  private def observed(own: VirtualScheduler)(read: Int => Unit): Clock = new Clock {
    private var calls = 0
    override def nanoTime: Long = {
      calls += 1
      read(calls)
      own.nanoTime
    }
    override def currentMillis: Long = own.currentMillis
  }

  private def plannerOf(s: Setup, clock: Clock): TriggerPlanner =
    plannerOf(s, clock, new ServiceClock(clock), None)

  private def plannerOf(s: Setup, clock: Clock, service: ServiceClock, minimum: Option[MinimumRecords]) =
    new TriggerPlanner(
      s.coordinator.prefetched,
      ReadLimits.Unlimited,
      minimum,
      service,
      _ => 0L,
      clock
    )

  test("after the first batch, a batch waits for the rest of a backlog, and then takes all of it") {
    withSetup("driver") { s =>
      s.coordinator.advance(start)
      val known = epochs(s)
      var hasMore = true
      var second = false
      val clock = observed(new VirtualScheduler(Second)) { _ =>
        // The rest arrives while the planner waits; without it the planner would wait forever, as no time passes.
        if (second && hasMore) {
          hasMore = false
          tell(s, known, 0, last = Some(3), Second + 2000, 0)
        }
      }
      val planner = plannerOf(s, clock)
      (3 to 0 by -1).foreach(i => tell(s, known, i, Option.when(i == 0)(1), Second + 1000, 60000))
      rows(s)(25)
      val first = planner.plan(start, allAvailable = false, prove(s)).get
      planner.noteBatch()
      assert(first.rows == 25)
      s.coordinator.advance(first.end)
      tell(s, known, 0, last = Some(2), Second + 1500, 60000)
      rows(s)(25)
      second = true
      assert(planner.plan(first.end, allAvailable = false, prove(s)).map(_.rows).contains(50L))
    }
  }

  test("a batch does not wait longer than a second for a backlog") {
    withSetup("driver") { s =>
      s.coordinator.advance(start)
      val known = epochs(s)
      val own = new VirtualScheduler(Second)
      var step = Duration.Zero: FiniteDuration
      var passed = Duration.Zero: FiniteDuration
      val planner = plannerOf(
        s,
        observed(own) { _ =>
          own.advance(step)
          passed += step
        }
      )
      (3 to 0 by -1).foreach(i => tell(s, known, i, Option.when(i == 0)(1), Second + 1000, 60000))
      rows(s)(25)
      val first = planner.plan(start, allAvailable = false, prove(s)).get
      planner.noteBatch()
      s.coordinator.advance(first.end)
      tell(s, known, 0, last = Some(2), Second + 1500, 60000)
      rows(s)(25)
      step = 100.millis
      assert(planner.plan(first.end, allAvailable = false, prove(s)).map(_.rows).contains(25L))
      assert(passed >= 900.millis && passed <= 2.seconds, passed)
    }
  }

  test("records that arrived in the second of the start belong to the first answer") {
    withSetup("driver") { s =>
      s.coordinator.advance(start)
      val known = epochs(s)
      def told(index: Int, hasRows: Boolean, upTo: Long, behind: Long): Unit =
        tell(s, known, index, Option.when(hasRows)(index + 1), upTo, behind)
      // The service answers with whole seconds: its clock may be anywhere within the second.
      val own = new VirtualScheduler(Second)
      val service = new ServiceClock(own)
      service.heard(Second, service.now)
      (3 to 0 by -1).foreach(index => told(index, hasRows = index == 0, Second + 100, 500))
      rows(s)(25)
      // The rest of the second is fetched after the planner has looked at the shards for the first time.
      val clock = observed(own) { call =>
        // Shard 3 is at its tip, which tells more than the bounds of the service's clock.
        if (call == 4) {
          (0 until 3).foreach(index => told(index, hasRows = index == 1, Second + 2000, 500))
          told(3, hasRows = false, Second + 700, 0)
        }
      }
      val minimum = MinimumRecords(50, Long.MaxValue)
      val planner = plannerOf(s, clock, service, Some(minimum))
      assert(planner.plan(start, allAvailable = false, prove(s)).map(_.rows).contains(50L))
    }
  }

  test("without a change nothing is planned again, however often the query asks") {
    withSetup("driver") { s =>
      s.coordinator.advance(start)
      val known = epochs(s)
      var readings = 0
      val planner = plannerOf(s, observed(new VirtualScheduler(Second))(call => readings = call))
      (3 to 0 by -1).foreach(i => tell(s, known, i, Option.when(i == 0)(1), Second + 1000, 0))
      rows(s)(25)
      val end = planner.plan(start, allAvailable = false, prove(s)).get.end
      planner.noteBatch()
      s.coordinator.advance(end)
      assert(planner.plan(end, allAvailable = false, prove(s)).isEmpty)
      // Planning reads the clock to measure its time.
      val before = readings
      (1 to 1000).foreach(_ => assert(planner.plan(end, allAvailable = false, prove(s)).isEmpty))
      assert(readings == before)
      tell(s, known, 2, Some(2), Second + 2000, 0)
      rows(s)(25)
      assert(planner.plan(end, allAvailable = false, prove(s)).map(_.rows).contains(25L) && readings > before)
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
      val planner = plannerOf(s, clock, new ServiceClock(own), None)
      assert(planner.plan(start, allAvailable = false, prove(s)).isEmpty)
    }
  }
}
