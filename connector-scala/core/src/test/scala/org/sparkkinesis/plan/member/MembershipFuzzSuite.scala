package org.sparkkinesis.plan.member

import scala.collection.immutable.SortedMap
import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.Random

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.config.value.OnStreamRemoved
import org.sparkkinesis.consume.RangeEnd
import org.sparkkinesis.metadata._
import org.sparkkinesis.model.{SequenceNumber, ShardId, StartingPosition, StreamRef, StreamShard}
import org.sparkkinesis.plan.offset._
import org.sparkkinesis.plan.{BatchPlanner, ReadLimits, ShardAvailability, ShardRange, TaskPlanner}
import org.sparkkinesis.shard.ShardGraph
import org.sparkkinesis.suite.TimedSuite

/**
 * Streams that join, drain, are parked and return at random, while writers use old versions of the document, the
 * service gives empty answers, streams cannot be opened, batches run again, and the driver is killed at any step. Every
 * record is read once and in order, and a stream is read only when its predecessors are parked.
 */
class MembershipFuzzSuite extends TimedSuite {
  import MembershipFuzzSuite._

  override protected def timeLimit: FiniteDuration = 5.minutes

  final private class World(random: Random) {
    private var now = 1700000000000L
    private val streams = Vector.tabulate(4)(new Real(_))
    private val after = streams.map(one => streams.take(one.index).filter(_ => random.nextInt(3) == 0).map(_.arn).toSet)
    private var version = 1L
    private val log = mutable.ArrayBuffer.empty[MetadataEntry]
    private var history = freshHistory
    private var committed = SourceOffset(SortedMap.empty[String, StreamOffset])

    /** The offset of the running driver, which goes on without batches. */
    private var live = committed
    streams.head.set(StreamState.Active, now)
    answer(mayFail = false)
    committed = Membership.takeIn(committed, log.toSeq)
    live = committed

    private lazy val retention = if (random.nextBoolean()) Long.MaxValue / 2 else 40L

    private def freshHistory =
      new MembershipHistory(log.toSeq, OnStreamRemoved.Drain, 1 + random.nextInt(2).toLong, retention)

    private def document: MetadataDocument = MetadataDocument(
      version,
      SortedMap("orders" -> streams.flatMap(one => one.state.map(PhysicalStream(one.ref, _, after = after(one.index)))))
    )

    private def change(): Unit = {
      val states = Seq(None, Some(StreamState.Active), Some(StreamState.Draining), Some(StreamState.Standby))
      streams(random.nextInt(streams.size)).set(states(random.nextInt(states.size)), now)
      version += 1
    }

    private def answer(mayFail: Boolean): Unit = {
      val answered =
        if (mayFail && random.nextInt(8) == 0) MetadataDocument(version, SortedMap("orders" -> Vector.empty))
        else document
      val removed = history.removed(answered)
      val prepared = history.toPrepare(answered).filterNot(_ => mayFail && random.nextInt(4) == 0).map(joinAt)
      history.next(answered, removed, prepared, now, parked = parked).foreach { entry =>
        dropped(entry)
        log += EntryCodec.decode(EntryCodec.encode(entry)).fold(why => throw new AssertionError(why), identity)
        history.note(entry)
      }
    }

    private def parked: Map[String, Long] = live.streams.collect {
      case (arn, StreamOffset(_, _, _, _, _, _, StreamPhase.Parked(since, _))) => arn -> since
    }

    /** A stream that leaves is parked and was removed for longer than the retention; then it is read from its start. */
    private def dropped(entry: MetadataEntry): Unit =
      for (last <- log.lastOption; arn <- last.wishes.keySet -- entry.wishes.keySet) {
        assert(parked.get(arn).exists(now - _ > retention), s"$arn is dropped, and it is ${live.streams.get(arn)}")
        assert(entry.document.physical.nonEmpty && real(arn).state.isEmpty, s"$arn is dropped, and it is named")
        real(arn).read = 0
      }

    private def joinAt(arn: String): StreamOffset =
      StreamOffset(arn, arn, 1, SortedMap(Shard -> ShardPosition.Horizon))

    private def put(): Unit = {
      val writable = streams.filter(one => one.isActive || now - one.activeUntil < WriterLag)
      if (writable.nonEmpty) writable(random.nextInt(writable.size)).records += now
    }

    private def fetch(): Unit = {
      val one = streams(random.nextInt(streams.size))
      one.fetched = math.min(one.records.size, one.fetched + random.nextInt(4))
    }

    private def available(shard: StreamShard): Option[ShardAvailability] = {
      val one = real(shard.stream)
      val at = live.streams.get(shard.stream).map(_.shards(Shard)).fold(0)(one.countUpTo)
      val chunks = (at until one.fetched).map(i =>
        ChunkSummary(SequenceNumber((i + 1).toString), 1, 1, one.records(i), one.records(i), one.records(i), 0)
      )
      val readUpTo = if (one.fetched == one.records.size) now - 1 else 0
      Some(ShardAvailability(chunks, ended = false, readUpTo))
    }

    private def isDrained(arn: String, until: Long): Boolean = {
      val known = available(StreamShard(arn, Shard)).get
      known.chunks.isEmpty && known.readUpToMillis >= until
    }

    private def plan(): Boolean = {
      val before = live
      live = Membership.takeIn(live, log.toSeq)
      live = Membership.park(live, now, Grace, Long.MaxValue / 2, isDrained)
      val waiting = Membership.waiting(live, log.toSeq)
      val limits = if (random.nextBoolean()) ReadLimits.Unlimited else ReadLimits(maxRecords = Some(2))
      val batch = BatchPlanner.plan(live, _ => ShardGraph.Empty, available, limits, waiting)
      batch.foreach { planned =>
        val ranges = rangesOf(committed, planned.end)
        ranges.foreach(read(_, live))
        if (random.nextInt(4) == 0) assert(rangesOf(restored(committed), restored(planned.end)) == ranges)
        committed = planned.end
        live = planned.end
      }
      batch.nonEmpty || before != live
    }

    private def restored(offset: SourceOffset): SourceOffset = OffsetCodec.decode(OffsetCodec.encode(offset))

    private def rangesOf(start: SourceOffset, end: SourceOffset): Seq[ShardRange] = {
      val whole = Membership.withJoined(
        start,
        end,
        Membership.joinIn(
          log.filter(entry => entry.number > start.version && entry.number <= end.version).toSeq,
          start,
          _
        ),
        arn => new AssertionError(s"$arn has not joined")
      )
      TaskPlanner.ranges(whole, end, Map.empty, _ => None)
    }

    private def read(range: ShardRange, from: SourceOffset): Unit = {
      val one = real(range.shard.stream)
      val first = range.after match {
        case StartingPosition.AfterSequenceNumber(number) => number.toString.toInt
        case _ => 0
      }
      val last = range.end match {
        case RangeEnd.At(number) => number.toString.toInt
        case other => throw new AssertionError(s"$other")
      }
      assert(first == one.read, s"$one is read from $first, and it was read up to ${one.read}")
      one.read = last
      // A stream that the document does not name any more waits for none.
      log.last.document.physical.get(one.arn).toSeq.flatMap(_.after).foreach(before =>
        assert(from.streams.get(before).forall(_.isParked), s"$one is read before $before")
      )
    }

    private def kill(): Unit = {
      live = committed
      history = freshHistory
    }

    def run(): Unit = {
      (0 until 200).foreach { _ =>
        now += random.nextInt(6).toLong
        random.nextInt(14) match {
          case 0 => change()
          case 1 | 2 => answer(mayFail = true)
          case 3 | 4 | 5 => put()
          case 6 | 7 | 8 => fetch()
          case 9 => kill()
          case _ => plan()
        }
      }
      // At last one stream after the other drains; each is read to its end before the next.
      streams.foreach { one =>
        Seq(StreamState.Active, StreamState.Draining).foreach { state =>
          one.set(Some(state), now)
          version += 1
          settle()
        }
        assert(one.read == one.records.size, s"$one was not read to its end")
      }
      assert(live.streams.values.forall(_.isParked))
    }

    private def settle(): Unit = {
      (1 to 3).foreach(_ => answer(mayFail = false))
      now += 2 * Grace
      streams.foreach(one => one.fetched = one.records.size)
      while (plan()) ()
    }

    private def real(arn: String): Real = streams.find(_.arn == arn).get
  }

  test("every record is read once and in order, whatever the metadata service says and whenever the driver is killed") {
    (1 to 1000).foreach { seed =>
      try new World(new Random(seed.toLong)).run()
      catch { case failure: Throwable => throw new AssertionError(s"seed $seed: ${failure.getMessage}", failure) }
    }
  }
}

object MembershipFuzzSuite {
  private val Shard = ShardId.ofIndex(0)

  /** Time for which a writer writes to a stream after it was removed. */
  private val WriterLag = 20L
  private val Grace = 60L

  final private class Real(val index: Int) {
    val ref: StreamRef.ByArn = StreamRef.parse(s"arn:aws:kinesis:us-east-1:123456789012:stream/s$index") match {
      case Some(arn: StreamRef.ByArn) => arn
      case other => throw new IllegalStateException(s"$other")
    }
    val records: mutable.ArrayBuffer[Long] = mutable.ArrayBuffer.empty
    var fetched = 0
    var read = 0
    var state: Option[StreamState] = None
    var activeUntil: Long = Long.MinValue / 2

    def arn: String = ref.value
    def isActive: Boolean = state.contains(StreamState.Active)

    def set(next: Option[StreamState], now: Long): Unit = {
      if (isActive) activeUntil = now
      state = next
    }
    def set(next: StreamState, now: Long): Unit = set(Some(next), now)

    /** Number of records up to this position. */
    def countUpTo(position: ShardPosition): Int = position match {
      case ShardPosition.After(number, _) => number.toString.toInt
      case _ => 0
    }
    override def toString: String = s"s$index"
  }
}
