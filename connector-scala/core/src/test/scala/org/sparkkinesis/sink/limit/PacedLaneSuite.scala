package org.sparkkinesis.sink.limit

import scala.concurrent.duration._
import scala.util.Random

import org.sparkkinesis.suite.TimedSuite

class PacedLaneSuite extends TimedSuite {

  /** The service's limit of one shard: a token bucket with a capacity of one second. */
  final private class Bucket(var perSecond: Double) {
    private var tokens = perSecond
    private var at = 0L
    def accepts(now: Long): Boolean = {
      tokens = math.min(perSecond, tokens + perSecond * (now - at) / 1e9)
      at = now
      val room = tokens >= 1
      if (room) tokens -= 1
      room
    }
  }

  private case class Outcome(accepted: Int, refused: Int) {
    def refusedShare: Double = refused.toDouble / (accepted + refused)
  }

  /** Writers that always have entries. */
  final private class Offer(bucket: Bucket, lanes: Seq[PacedLane], answersAfter: FiniteDuration = 20.millis)(
      startsAt: PacedLane => Long = _ => 0L
  ) {
    private val latency = answersAfter.toNanos
    private var now = 0L
    private var answers = Vector.empty[(Long, PacedLane, Int, Int)]
    private val random = new Random(7)
    private var taken = Map.empty[PacedLane, Int]

    /** The part of the accepted entries that each lane had during the last run. */
    def shares: Seq[Double] = lanes.map(lane => taken.getOrElse(lane, 0).toDouble / taken.values.sum)

    def run(time: FiniteDuration): Outcome = {
      val end = now + time.toNanos
      var (accepted, refused) = (0, 0)
      taken = Map.empty
      while (now < end) {
        // Requests of several processes reach the shard in any order.
        random.shuffle(lanes.filter(lane => now >= startsAt(lane))).foreach { lane =>
          var (yes, no) = (0, 0)
          while (yes + no < 500 && lane.tryTake(100, now)) if (bucket.accepts(now)) yes += 1 else no += 1
          if (yes + no > 0) answers :+= ((now + latency, lane, yes, no))
          accepted += yes
          taken += lane -> (taken.getOrElse(lane, 0) + yes)
          refused += no
        }
        now += 5.millis.toNanos
        val (due, later) = answers.partition(_._1 <= now)
        due.foreach { case (_, lane, yes, no) => lane.settled(yes, no, now - latency, now) }
        answers = later
      }
      Outcome(accepted, refused)
    }
  }

  private def lane = new PacedLane(1000, 1 << 20)

  test("a lane that was never throttled has no limit") {
    val free = lane
    assert((1 to 100000).forall(_ => free.tryTake(1 << 20, 0)))
    assert(free.currentScale == Double.PositiveInfinity)
  }

  test("rate changes are reported at the first throttling, at each reduction and at the removal of the limit") {
    var told = Vector.empty[Double]
    val lane = new PacedLane(1000, 1 << 20, scale => told :+= scale)
    new Offer(new Bucket(500), Seq(lane))().run(10.seconds)
    assert(told.head == 1.0)
    assert(told.size > 1 && told.tail.forall(scale => scale > 0 && !scale.isInfinite))
    lane.settled(1, 0, 1.hour.toNanos, 1.hour.toNanos)
    assert(told.last.isPosInfinity)
  }

  test("an overloaded lane reaches at least 95 % of its capacity with at most 5 % of entries throttled") {
    val offer = new Offer(new Bucket(1000), Seq(lane))()
    offer.run(10.seconds)
    val settled = offer.run(60.seconds)
    assert(settled.accepted >= 57000, settled)
    assert(settled.refusedShare <= 0.05, settled)
  }

  test("an overloaded lane also reaches its capacity with slow responses") {
    val offer = new Offer(new Bucket(1000), Seq(lane), answersAfter = 500.millis)()
    offer.run(10.seconds)
    val settled = offer.run(60.seconds)
    assert(settled.accepted >= 57000, settled)
    assert(settled.refusedShare <= 0.05, settled)
  }

  test("executors that share a shard independently also reach its capacity") {
    val offer = new Offer(new Bucket(1000), Seq.fill(4)(lane))()
    offer.run(10.seconds)
    val settled = offer.run(60.seconds)
    assert(settled.accepted >= 57000, settled)
    assert(settled.refusedShare <= 0.05, settled)
  }

  test("two processes have 40 to 60 % of a shard 30 seconds after the second one began") {
    val lanes = Seq(lane, lane)
    val offer = new Offer(new Bucket(1000), lanes)(one => if (one eq lanes.head) 0 else 20.seconds.toNanos)
    offer.run(50.seconds)
    val settled = offer.run(20.seconds)
    assert(offer.shares.forall(share => share >= 0.4 && share <= 0.6), offer.shares)
    assert(settled.accepted >= 19000 && settled.refusedShare <= 0.05, settled)
  }

  test("an uneven start of four processes evens out") {
    val lanes = Seq.fill(4)(lane)
    val start = Seq(0, 5, 10, 15).map(_.seconds.toNanos)
    val offer = new Offer(new Bucket(1000), lanes)(one => start(lanes.indexWhere(_ eq one)))
    offer.run(45.seconds)
    val settled = offer.run(30.seconds)
    assert(offer.shares.forall(share => share >= 0.15 && share <= 0.4), offer.shares)
    assert(settled.accepted >= 28500 && settled.refusedShare <= 0.05, settled)
  }

  test("the writers of one process share the rate of a lane, and use what another one leaves") {
    val shared = lane
    shared.settled(0, 1, 0, 0)
    val (first, second, modest) = (shared.open(), shared.open(), shared.open())
    var taken = Map(first -> 0, second -> 0, modest -> 0)
    def takeAll(one: LaneShare, now: Long): Unit = while (one.tryTake(100, now)) taken += one -> (taken(one) + 1)
    (1 to 1000).foreach { n =>
      val now = n * 10.millis.toNanos
      takeAll(first, now)
      takeAll(second, now)
      if (n % 10 == 0 && modest.tryTake(100, now)) taken += modest -> (taken(modest) + 1)
    }
    assert(taken(modest) >= 95, taken)
    assert(taken.values.sum >= 9800 && taken.values.sum <= 10100, taken)
    assert(taken(second) >= 0.3 * taken(first), taken)
  }

  test("responses to entries sent before a reduction do not reduce the rate again") {
    val late = lane
    late.settled(100, 400, 0, 1000)
    (1 to 20).foreach(_ => late.settled(100, 400, 500, 2.seconds.toNanos))
    assert(late.currentScale == 1.0)
    late.settled(400, 100, 2.seconds.toNanos, 3.seconds.toNanos)
    assert(late.currentScale < 1.0)
  }

  test("throttling caused by a burst does not reduce the rate before one second was measured") {
    val burst = lane
    burst.settled(100, 400, 0, 0)
    (1 to 9).foreach { tenth =>
      val now = (tenth * 100).millis.toNanos
      burst.settled(10, 90, now - 20.millis.toNanos, now)
    }
    assert(burst.currentScale == 1.0)
    burst.settled(500, 1, 990.millis.toNanos, 1010.millis.toNanos)
    assert(burst.currentScale < 1.0 && burst.currentScale > 0.5, burst.currentScale)
  }

  test("an idle lane is not reduced because few of its entries were accepted") {
    val stalled = lane
    stalled.settled(0, 1, 0, 0)
    stalled.settled(400, 0, 100.millis.toNanos, 120.millis.toNanos)
    stalled.settled(99, 1, 1100.millis.toNanos, 1120.millis.toNanos)
    assert(stalled.currentScale >= 1 - PacedLane.CutPerScale, stalled.currentScale)
  }

  test("an increased capacity of a shard is used within 30 seconds") {
    val bucket = new Bucket(200)
    val offer = new Offer(bucket, Seq(lane))()
    offer.run(20.seconds)
    bucket.perSecond = 1000
    offer.run(30.seconds)
    assert(offer.run(10.seconds).accepted >= 9500)
  }

  test("bytes are limited like entries, and one large entry may make the balance negative") {
    val large = lane
    large.settled(0, 1, 0, 0)
    val start = large.readyAtNanos(0)
    assert(large.tryTake(1 << 20, start))
    assert(!large.tryTake(1, start))
    val ready = large.readyAtNanos(start)
    assert(
      ready - start >= 900.millis.toNanos && ready - start <= 1100.millis.toNanos,
      s"${(ready - start) / 1000000} ms"
    )
  }

  test("a lane that was not throttled for long has no limit") {
    val quiet = lane
    quiet.settled(10, 5, 0, 0)
    quiet.settled(10, 0, 31.seconds.toNanos, 31.seconds.toNanos)
    assert(quiet.currentScale == Double.PositiveInfinity)
  }
}
