package org.sparkkinesis.plan.member

import scala.collection.immutable.SortedMap

import org.sparkkinesis.config.value.OnStreamRemoved
import org.sparkkinesis.metadata._
import org.sparkkinesis.model.{KinesisQuotas, ShardId}
import org.sparkkinesis.plan.offset.StreamPhase.{Active, Draining, Parked}
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset, StreamOffset, StreamPhase}
import org.sparkkinesis.suite.TimedSuite

class MembershipSuite extends TimedSuite with MemberSamples {
  private def entry(number: Long, joins: Seq[String], wishes: (String, StreamWish)*): MetadataEntry = MetadataEntry(
    number,
    0,
    document(number),
    wishes.to(SortedMap),
    joins.map(arn => arn -> join(arn)).to(SortedMap)
  )

  test("an entry moves a stream to the phase that the metadata wants") {
    import StreamWish._
    val table = Seq[(StreamPhase, StreamWish, StreamPhase)](
      (Active, Read, Active),
      (Active, Drain(5), Draining(5)),
      (Active, Park(5), Parked(5, isDrained = false)),
      (Draining(5), Read, Active),
      (Draining(5), Drain(5), Draining(5)),
      (Draining(5), Park(7), Parked(7, isDrained = false)),
      (Parked(9, isDrained = true), Read, Active),
      (Parked(9, isDrained = true), Drain(5), Parked(9, isDrained = true)),
      (Parked(9, isDrained = true), Drain(11), Draining(11)),
      (Parked(9, isDrained = true), Park(5), Parked(9, isDrained = true))
    )
    table.foreach { case (before, wish, expected) =>
      val moved = Membership.takeIn(offset(1, join(a, before)), Seq(entry(2, Nil, a -> wish)))
      assert(moved == offset(2, join(a, expected)), s"$before and $wish")
    }
  }

  test("streams join at the position of their entry, also if several entries are taken in at once") {
    import StreamWish._
    val entries = Seq(entry(2, Seq(b), a -> Read, b -> Read), entry(3, Seq(c), a -> Drain(8), b -> Read, c -> Drain(8)))
    val moved = Membership.takeIn(offset(1, join(a)), entries)
    assert(moved == offset(3, join(a, Draining(8)), join(b), join(c, Draining(8))))
    assert(Membership.takeIn(moved, entries) == moved, "an entry is taken in once")
  }

  test("a parked stream should be read again since the first entry that returns it, or since it was parked") {
    import StreamWish._
    val table = Seq[(Seq[StreamWish], Option[Long])](
      (Seq(Drain(5)), None),
      (Seq(Drain(5), Drain(5), Park(5)), None),
      (Seq(Drain(5), Read, Drain(30), Read), Some(2000)),
      (Seq(Drain(5), Drain(11)), Some(2000)),
      (Seq(Drain(5), Park(20), Read), Some(3000)),
      // The stream was parked because it could not be read.
      (Seq(Read, Read), Some(9))
    )
    table.foreach { case (wishes, expected) =>
      val entries = wishes.zipWithIndex.map { case (wish, i) =>
        entry(i + 1L, Nil, a -> wish).copy(atMillis = (i + 1) * 1000L)
      }
      val parked = join(a, Parked(9, isDrained = true))
      assert(Membership.wantedSince(offset(1, parked), parked, entries) == expected, wishes)
    }
    assert(Membership.wantedSince(offset(1, join(a)), join(a), Seq(entry(2, Nil, a -> Read))).isEmpty, "it is read")
    val parked = join(a, Parked(9000, isDrained = true))
    assert(
      Membership.wantedSince(offset(1, parked), parked, Seq(entry(2, Nil, a -> Read))).contains(9001L),
      "the time of a later entry is earlier, because a clock was wrong"
    )
  }

  test("a stream that no entry wants any more leaves the offset") {
    val moved = Membership.takeIn(
      offset(1, join(a), join(b, Parked(5, isDrained = true))),
      Seq(entry(2, Nil, a -> StreamWish.Read))
    )
    assert(moved == offset(2, join(a)))
  }

  test("a draining stream is parked when it is drained, or after its timeout") {
    def parked(now: Long, drained: Boolean) =
      Membership.park(offset(1, join(a), join(b, Draining(100))), now, 10, 50, (_, _) => drained).streams(b).phase
    assert(parked(105, drained = false) == Draining(100))
    assert(parked(111, drained = true) == Parked(111, isDrained = true))
    assert(parked(150, drained = false) == Draining(100))
    assert(parked(151, drained = false) == Parked(151, isDrained = false))
    val asked = collection.mutable.ArrayBuffer.empty[(String, Long)]
    Membership.park(offset(1, join(a), join(b, Draining(100))), 0, 10, 50, (s, t) => { asked += s -> t; false })
    assert(asked == Seq(b -> 110L), "only draining streams are asked for, up to the end of the grace period")
  }

  test("a stream that cannot be read is held, and goes on where it was with the next entry") {
    val table = Seq[(StreamPhase, StreamWish, StreamPhase, StreamPhase)](
      (Active, StreamWish.Read, Parked(9, isDrained = false), Active),
      (Draining(5), StreamWish.Drain(5), Parked(4, isDrained = false), Draining(5)),
      (Parked(7, isDrained = true), StreamWish.Drain(5), Parked(7, isDrained = true), Parked(7, isDrained = true))
    )
    table.foreach { case (before, wish, whileHeld, after) =>
      val from = offset(1, join(a), join(b, before))
      val held = Membership.hold(from, from, nowMillis = 9, Map(b -> false))
      assert(held == offset(1, join(a), join(b, whileHeld)), s"$before")
      assert(Membership.takeIn(held, Seq(entry(2, Nil, a -> StreamWish.Read, b -> wish))).streams(b).phase == after)
      val other = Membership.takeIn(held, Seq(entry(2, Nil, a -> StreamWish.Read, b -> wish)))
      val again = Membership.hold(other, held, nowMillis = 20, Map(b -> false))
      assert(again.streams(b).phase == whileHeld, "an entry for another stream does not change it")
    }
    val from = offset(1, join(a))
    assert(Membership.hold(from, from, 9, Map(c -> true)) eq from)
  }

  test("a drained stream that returns and cannot be read stays drained only if it got no records since") {
    for (isDrained <- Seq(true, false)) {
      val parked = offset(1, join(a), join(b, Parked(7, isDrained = true)))
      val returned = Membership.takeIn(parked, Seq(entry(2, Nil, a -> StreamWish.Read, b -> StreamWish.Read)))
      val held = Membership.hold(returned, parked, nowMillis = 9, Map(b -> isDrained))
      assert(held.streams(b).phase == Parked(7, isDrained))
    }
  }

  private def history(
      last: MetadataEntry,
      how: OnStreamRemoved = OnStreamRemoved.Drain,
      confirmations: Long = 2
  ): MembershipHistory = new MembershipHistory(Seq(last), how, confirmations, retentionMillis = 1000)

  test("a stream counts as removed when enough answers in a row lack it") {
    val past = history(entry(1, Nil, a -> StreamWish.Read, b -> StreamWish.Read))
    val (both, one) = (document(2, physical(a), physical(b)), document(3, physical(a)))
    assert(Seq(one, both, one, one).map(past.removed) == Seq(Set.empty, Set.empty, Set.empty, Set(b)))
  }

  test("an answer that names no known stream removes none") {
    val past = history(entry(1, Nil, a -> StreamWish.Read, b -> StreamWish.Read), confirmations = 1)
    assert(past.removed(document(2)) == Set.empty && past.removed(document(2, physical(c))) == Set.empty)
    assert(past.removed(document(2, physical(b))) == Set(a))
  }

  test("removed streams are drained or parked as the options say, and dropped after the retention") {
    val first = entry(1, Nil, a -> StreamWish.Read, b -> StreamWish.Read)
    def wish(how: OnStreamRemoved) =
      history(first, how).next(document(2, physical(a)), Set(b), Nil, nowMillis = 7).map(_.wishes(b))
    assert(wish(OnStreamRemoved.Drain).contains(StreamWish.Drain(7)))
    assert(wish(OnStreamRemoved.Park).contains(StreamWish.Park(7)))
  }

  test("the retention of a removed stream begins when it is parked and no document names it, whichever is later") {
    val (with_, without) = (document(2, physical(a), physical(b, StreamState.Draining)), document(3, physical(a)))

    /** The answers with their times, each with when the query parked the stream, and whether its position is kept. */
    val table = Seq[(String, Seq[(MetadataDocument, Long, Option[Long])], Boolean)](
      ("absent and parked for the retention", Seq((without, 100, Some(100)), (without, 1100, Some(100))), true),
      ("for longer", Seq((without, 100, Some(100)), (without, 1101, Some(100))), false),
      ("parked later", Seq((without, 100, None), (without, 2000, Some(1200)), (without, 2200, Some(1200))), true),
      ("still draining", Seq((without, 100, None), (without, 99999, None), (without, 99999, None)), true),
      ("parked long ago, one answer lacks it", Seq((with_, 9000, Some(50)), (without, 9100, Some(50))), true),
      (
        "answers lack it in turns",
        Seq((without, 100, Some(50)), (with_, 900, Some(50)), (without, 1500, Some(50)), (without, 1600, Some(50))),
        true
      ),
      ("the last answer is the first one of many", Seq((with_, 100, Some(50)), (without, 9999, Some(50))), true),
      (
        "the last answer is empty",
        Seq((without, 100, Some(50)), (document(4), 2000, Some(50)), (document(4), 2100, Some(50))),
        true
      )
    )
    table.foreach { case (what, answers, isKept) =>
      Seq(false, true).foreach { restarts =>
        var past = history(entry(1, Nil, a -> StreamWish.Read, b -> StreamWish.Drain(7)).copy(document = with_))
        answers.foreach { case (answer, now, parkedAt) =>
          val removed = past.removed(answer)
          past.next(answer, removed, Nil, now, parked = parkedAt.map(b -> _).toMap).foreach(past.note)
          if (restarts && answer != answers.last._1) past = history(past.newest.get)
        }
        assert(past.newest.exists(_.wishes.contains(b)) == isKept, s"$what, with restarts: $restarts")
      }
    }
  }

  test("an entry of an earlier version, without the times since when documents lack streams, keeps them for longer") {
    val past =
      history(entry(1, Nil, a -> StreamWish.Read, b -> StreamWish.Drain(7)).copy(atMillis = 5000), confirmations = 1)
    def isKept(now: Long): Boolean = {
      val without = document(2, physical(a))
      past.next(without, past.removed(without), Nil, now, parked = Map(b -> 10L)).exists(_.wishes.contains(b))
    }
    assert(isKept(6000) && !isKept(6001))
  }

  test("the start of a batch has the streams that joined in it, also one that was dropped and joined again") {
    import StreamWish.Read
    val at = join(b).copy(shards = SortedMap(ShardId.ofIndex(7) -> ShardPosition.ShardEnd))
    val (plain, dropped) = (entry(2, Nil, a -> Read, b -> Read), entry(2, Nil, a -> Read))
    val joining = entry(3, Seq(b), a -> Read, b -> Read)
    val table = Seq[(Seq[MetadataEntry], SourceOffset, Option[StreamOffset])](
      (Seq(plain), offset(1, join(a), at), None),
      (Nil, offset(1, join(a)), None),
      (Seq(joining), offset(1, join(a)), Some(join(b))),
      (Seq(dropped, joining), offset(1, join(a), at), Some(join(b))),
      // The first entry of a pattern has the positions of its first streams.
      (Seq(joining, entry(4, Nil, a -> Read, b -> Read)), offset(0, join(a), at), None),
      // A list of streams, and a run whose streams are fixed, write version 0 although the log has entries.
      (Seq(entry(1, Nil, a -> Read), joining, entry(4, Nil, a -> Read, b -> Read)), offset(0, join(a), at), None)
    )
    table.foreach { case (between, start, join) =>
      assert(Membership.joinIn(between, start, b) == join, s"$between after $start")
      val end = offset(4, join.orElse(start.streams.get(b)).toSeq :+ this.join(a): _*)
      val whole = Membership.withJoined(start, end, Membership.joinIn(between, start, _), new AssertionError(_))
      assert(whole.streams.get(b) == join.orElse(start.streams.get(b)))
    }
    intercept[AssertionError](Membership.withJoined(offset(1), offset(2, join(b)), _ => None, new AssertionError(_)))
  }

  test("an offset of an earlier run gets the phases that its version wants") {
    val at = entry(1, Nil, a -> StreamWish.Read, b -> StreamWish.Drain(5), c -> StreamWish.Park(6))
    val table = Seq[(Seq[StreamOffset], Seq[StreamOffset])](
      Seq(join(a), join(b, Draining(5)), join(c, Parked(6, isDrained = false))) -> Nil,
      Seq(join(a), join(b, Parked(9, isDrained = true))) -> Nil,
      // They could not be read.
      Seq(join(a, Parked(9, isDrained = false)), join(b, Parked(4, isDrained = false))) ->
        Seq(join(a), join(b, Draining(5)))
    )
    table.foreach { case (before, after) =>
      val from = offset(1, before: _*)
      val resumed = Membership.resume(from, at)
      assert(if (after.isEmpty) resumed eq from else resumed == offset(1, after: _*), s"$before")
    }
  }

  test("streams that are parked now get times, and the others have none because of that") {
    def timed(before: SourceOffset, now: SourceOffset): SourceOffset = Membership.timed(before, now, _.timed(8))
    val parked = Parked(9, isDrained = false)
    val gone = (arn: String) => new AssertionError(arn)
    val before = offset(1, join(a), join(b), join(c, parked))
    val now = offset(1, join(a), join(b, parked), join(c, parked))
    assert(timed(before, now) == offset(1, join(a), join(b, parked).timed(8), join(c, parked)))
    assert(timed(offset(1, join(a)), offset(2, join(a), join(b, parked))).streams(b) == join(b, parked).timed(8))
    assert(timed(now, now) eq now)
    val joining = entry(2, Nil, a -> StreamWish.Read).copy(joins = SortedMap(a -> join(a).timed(8)))
    assert(Membership.takeIn(offset(1), Seq(joining)) == offset(2, join(a)), "a join has a time that is not used yet")
    val end = offset(2, join(a))
    assert(Membership.withJoined(offset(1), end, _ => Some(join(a).timed(8)), gone) == offset(1, join(a)))
    assert(join(a).timedAs(Some(join(a).timed(8))) == join(a).timed(8) && join(a).timedAs(None) == join(a))
  }

  test("an answer without a change makes no entry, and a pending stream makes one when it can be read") {
    val past = new MembershipHistory(Nil, OnStreamRemoved.Drain, 2, 1000)
    val both = document(1, physical(a), physical(b), physical(c, StreamState.Standby))
    assert(past.toPrepare(both) == Seq(a, b))
    val first = past.next(both, Set.empty, Seq(join(a)), 5).get
    assert(first.number == 1 && first.wishes == SortedMap(a -> StreamWish.Read) && first.joins.keySet == Set(a))
    past.note(first)
    assert(past.next(both, Set.empty, Nil, 6).isEmpty && past.toPrepare(both) == Seq(b))
    assert(past.next(both, Set.empty, Seq(join(b)), 7).exists(next => next.number == 2 && next.joins.keySet == Set(b)))
  }

  test("a stream that can be read again makes an entry without a change of the document") {
    val past = history(entry(1, Nil, a -> StreamWish.Read).copy(document = document(1, physical(a))))
    assert(past.next(document(1, physical(a)), Set.empty, Nil, 6).isEmpty)
    assert(past.next(document(1, physical(a)), Set.empty, Nil, 6, areReachable = true).exists(_.number == 2))
  }

  test("an entry restates the streams of a checkpoint, from which streams join and are removed as ever") {
    val past = new MembershipHistory(Nil, OnStreamRemoved.Drain, 1, 1000)
    val restated = past.restated(Seq(physical(a), physical(b)), "streamPattern", 5)
    assert(restated.number == 1 && restated.joins.isEmpty && restated.document.version == 0)
    assert(restated.wishes == SortedMap(a -> StreamWish.Read, b -> StreamWish.Read))
    past.note(restated)
    val listed = document(1, physical(a), physical(c))
    assert(past.toPrepare(listed) == Seq(c) && past.removed(listed) == Set(b))
    assert(past.next(listed, Set(b), Seq(join(c)), 7).map(_.wishes).contains(
      SortedMap(a -> StreamWish.Read, b -> StreamWish.Drain(7), c -> StreamWish.Read)
    ))
  }

  test("draining and standby streams are drained from the time of the first entry that says so") {
    val past = history(entry(1, Nil, a -> StreamWish.Read, b -> StreamWish.Read))
    val leaving = document(2, physical(a, StreamState.Draining), physical(b, StreamState.Standby))
    val second = past.next(leaving, Set.empty, Nil, 5).get
    assert(second.wishes == SortedMap(a -> StreamWish.Drain(5), b -> StreamWish.Drain(5)))
    past.note(second)
    assert(past.next(leaving.copy(version = 3), Set.empty, Nil, 9).exists(_.wishes == second.wishes))
    assert(past.next(document(4, physical(a), physical(b)), Set.empty, Nil, 9)
      .exists(_.wishes == SortedMap(a -> StreamWish.Read, b -> StreamWish.Read)))
  }

  test("an entry is decoded as it was encoded, and a damaged one is refused") {
    val one = entry(3, Seq(c), a -> StreamWish.Drain(8), b -> StreamWish.Park(9), c -> StreamWish.Read)
      .copy(document = document(7, physical(a), physical(c, after = Set(a))))
    Seq(
      one,
      one.copy(absent = SortedMap(b -> 44L)),
      one.copy(former = document(6, physical(b).copy(role = Some("arn:aws:iam::123456789012:role/reader"))))
    ).foreach { entry =>
      val text = EntryCodec.encode(entry)
      assert(EntryCodec.decode(text) == Right(entry))
      (0 until text.length).foreach(end => assert(EntryCodec.decode(text.take(end)).isLeft, text.take(end)))
    }
    assert(!EntryCodec.encode(one).contains("former") && !EntryCodec.encode(one).contains("absent"))
  }

  test("every entry that is written can be read, also if its streams wait for each other or are many") {
    val past = history(entry(1, Nil, a -> StreamWish.Read, b -> StreamWish.Read)
      .copy(document = document(1, physical(a), physical(b, after = Set(a)))))
    val changes = Seq(
      document(2, physical(a, after = Set(b))) -> Nil,
      document(3, physical(c)) -> Seq(join(c)),
      document(4) -> Nil
    ).map { case (named, joins) =>
      val next = past.next(named, Set(a, b), joins, 7).get
      past.note(next)
      next
    }
    assert(changes.map(_.former.physical.keySet) == Seq(Set(b), Set(a, b), Set(a, b, c)))
    assert(changes(1).former.physical.values.map(_.after).toSeq == Seq(Set(b), Set(a)), "they wait for each other")
    val many = document(6, (1 to 15000).map(index => physical(arn(s"many-$index"))): _*)
    val large = Seq(entry(8, Nil).copy(document = many), entry(9, Nil).copy(former = many))
    assert(large.forall(EntryCodec.encode(_).length > KinesisQuotas.MiB))
    (changes ++ large).foreach { entry =>
      assert(EntryCodec.decode(EntryCodec.encode(entry)).contains(entry), s"entry ${entry.number}")
    }
  }

  test("an entry has the streams that drain also if the last entry lacks them and an earlier one has them") {
    val role = physical(b, after = Set(a)).copy(role = Some("arn:aws:iam::123456789012:role/reader"))
    val wishes = Seq(a -> StreamWish.Read, b -> StreamWish.Drain(5))
    val upgraded = Seq(
      entry(1, Nil, wishes: _*).copy(document = document(1, physical(a), physical(b))),
      entry(2, Nil, wishes: _*).copy(document = document(2, physical(a), role)),
      entry(3, Nil, wishes: _*).copy(document = document(3, physical(a)))
    )
    val past = new MembershipHistory(upgraded, OnStreamRemoved.Drain, 1, 1000)
    (4 to 5).foreach { version =>
      val next = past.next(document(version.toLong, physical(a)), Set.empty, Nil, 7).get
      past.note(next)
      assert(next.physical(b).contains(role) && next.idOf(b).contains("orders"), s"version $version")
    }
  }
}
