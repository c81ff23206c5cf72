package org.sparkkinesis.sink

import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.Random

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.sink.Verdict._
import org.sparkkinesis.sink.kinesis.KinesisSinkSettings
import org.sparkkinesis.sink.limit.{NoRateLimiting, RateLimitingContext}
import org.sparkkinesis.sink.writer.AsyncSinkWriter
import org.sparkkinesis.suite.TimedSuite

/** Tests order keys and lanes. */
class OrderedSinkSuite extends TimedSuite {
  private val settings = KinesisSinkSettings.of(Options.defaults).requests.copy(
    maxBatchSize = 4,
    maxInFlightRequests = 3,
    maxBufferedEntries = 1000
  )
  private val throttled: Verdict = Retry(RetryCause.Throttled, "slow down")

  private class Rig(together: Boolean = false, settings: AsyncSinkSettings = settings) {
    val time = new VirtualScheduler
    val destination = new WaitingDestination(together)
    val limits =
      new NoRateLimiting(RateLimitingContext(settings.maxBatchSize, settings.maxInFlightRequests, () => 1, 1000))
    val writer = new AsyncSinkWriter[Item](
      destination,
      limits.open(),
      settings,
      settings.newBounds,
      time,
      () => 1.0
    )
    def write(items: (Int, String)*): Unit = items.foreach { case (n, key) => writer.write(Item(n, key = Some(key))) }
  }

  test("an entry is not sent before an earlier one with its key is accepted, and other keys continue") {
    val rig = new Rig
    rig.write(1 -> "a", 2 -> "a", 3 -> "b", 4 -> "c", 5 -> "d", 6 -> "b")
    assert(rig.destination.sent == Seq(Seq(1, 3, 4, 5)))
    rig.destination.last.judge(item => if (item.n == 1) throttled else Accepted)
    assert(rig.destination.sent.last == Seq(6))
    rig.time.advance(50.millis)
    assert(rig.destination.sent.last == Seq(1))
    rig.destination.last.accept()
    assert(rig.destination.sent.last == Seq(2))
  }

  test("a request without a response blocks its keys until it succeeds") {
    val rig = new Rig
    rig.write(1 -> "a", 2 -> "a")
    rig.time.advance(1.second)
    rig.time.advance(31.seconds)
    assert(rig.destination.sent == Seq(Seq(1), Seq(1)))
    rig.destination.requests.head.accept()
    assert(rig.destination.sent.size == 2)
    rig.destination.last.accept()
    assert(rig.destination.sent.last == Seq(2))
  }

  test("with best effort, only a record that is refused is overtaken, by the rest of its request") {
    // One group of keys: a request contains all that waits, and the next one is sent when it has been answered.
    val rig = new Rig(together = true)
    rig.write((1 to 4).map(_ -> "group"): _*)
    rig.write((5 to 9).map(_ -> "group"): _*)
    rig.write(10 -> "other")
    rig.time.advance(1.second)
    assert(rig.destination.sent == Seq(Seq(1, 2, 3, 4), Seq(10)))
    rig.destination.requests(0).judge(item => if (item.n == 2) throttled else Accepted)
    rig.time.advance(10.millis)
    assert(rig.destination.sent.size == 2)
    rig.time.advance(50.millis)
    assert(rig.destination.sent.last == Seq(2, 5, 6, 7))
    rig.destination.last.accept()
    assert(rig.destination.sent.last == Seq(8, 9))
  }

  test("if the destination keeps keys together, all waiting entries of a key are sent in one request and in order") {
    val rig = new Rig(together = true)
    rig.write(1 -> "a", 2 -> "a", 3 -> "a")
    rig.time.advance(1.second)
    rig.write(4 -> "a", 5 -> "b", 6 -> "a")
    assert(rig.destination.sent == Seq(Seq(1, 2, 3)))
    rig.destination.last.judge(item => if (item.n == 1) Accepted else throttled)
    rig.time.advance(50.millis)
    assert(rig.destination.sent.last == Seq(2, 3, 4, 6))
  }

  test("entries that the destination left out are sent next, without a backoff and without counting as an attempt") {
    val rig = new Rig(together = true)
    rig.write(1 -> "a", 2 -> "a", 3 -> "a")
    rig.time.advance(1.second)
    rig.destination.last.judge(item => if (item.n == 3) Retry(RetryCause.NotSent, "no room") else Accepted)
    assert(rig.destination.sent.last == Seq(3))
    assert(rig.writer.metrics.retried == 0L)
  }

  test("a waiting lane delays only its own entries and receives their results") {
    val rig = new Rig(settings = settings.copy(maxTimeInBuffer = 10.millis))
    val (shut, free) = (new GateLane("shut"), new GateLane("free"))
    shut.openAt = 500.millis.toNanos
    (1 to 6).foreach(n => rig.writer.write(Item(n, lane = if (n % 2 == 0) shut else free)))
    rig.time.advance(20.millis)
    assert(rig.destination.sent.flatten == Seq(1, 3, 5))
    rig.time.advance(470.millis)
    assert(rig.destination.sent.flatten == Seq(1, 3, 5))
    rig.time.advance(10.millis)
    assert(rig.destination.sent.last == Seq(2, 4, 6))
    rig.destination.last.judge(item => if (item.n == 6) throttled else Accepted)
    assert(shut.heard == Seq(2 -> 1))
    assert(rig.writer.metrics.laneWaitNanos == 500.millis.toNanos)
    assert(rig.writer.metrics.limitWaitNanos == 0)
  }

  test(
    "with random failures and response orders all entries arrive, and first arrivals of each key are in order"
  ) {
    (1 to 200).foreach(seed => chaos(seed, together = seed % 2 == 0))
  }

  private def chaos(seed: Int, together: Boolean): Unit = {
    val random = new Random(seed.toLong)
    val rig = new Rig(together, settings.copy(maxBufferedEntries = 10000, requestTimeout = 1.second))
    val arrived = mutable.ArrayBuffer.empty[Item]
    val keys = "abcdefg".map(_.toString)
    val lanes = Seq(new GateLane("x"), new GateLane("y"))
    var answered = 0

    def store(items: Seq[Item]): Unit = arrived ++= items
    def answer(goOn: => Boolean): Unit = while (answered < rig.destination.requests.size && goOn) {
      val request = rig.destination.requests(answered)
      answered += 1
      val stopped = mutable.Set.empty[Option[String]]
      random.nextInt(5) match {
        // The entries are stored, but the response is lost or arrives after the timeout.
        case 0 => store(request.items)
        case 1 =>
          store(request.items)
          rig.time.advance(1100.millis)
          request.accept()
        case _ =>
          request.judge { item =>
            val refused = random.nextInt(4) == 0 || together && stopped(item.key)
            if (refused) stopped += item.key else store(Seq(item))
            if (refused) throttled else Accepted
          }
      }
    }

    (1 to 150).foreach { n =>
      rig.writer.write(Item(n, key = Some(keys(random.nextInt(keys.size))), lane = lanes(random.nextInt(2))))
      if (random.nextInt(5) == 0)
        lanes(random.nextInt(2)).openAt = rig.time.nanoTime + random.nextInt(300).millis.toNanos
      if (random.nextInt(3) == 0) answer(random.nextInt(4) > 0)
      rig.time.advance(random.nextInt(40).millis)
    }
    var rounds = 0
    while (rig.writer.metrics.unacknowledgedBytes > 0 && rounds < 2000) {
      rounds += 1
      answer(true)
      rig.time.advance(100.millis)
    }
    assert(rig.writer.metrics.unacknowledgedBytes == 0L, s"seed $seed: ${rig.writer.metrics}")
    rig.writer.flush()
    val first = arrived.distinctBy(_.n)
    assert(first.map(_.n).sorted.toSeq == (1 to 150).toSeq, s"seed $seed")
    first.groupBy(_.key).foreach { case (key, items) =>
      assert(items.map(_.n).toSeq == items.map(_.n).sorted.toSeq, s"seed $seed, key $key")
    }
    val doubled = arrived.size - first.size
    assert(doubled <= rig.writer.metrics.possibleDuplicates, s"seed $seed: $doubled doubled, but ${rig.writer.metrics}")
  }
}
