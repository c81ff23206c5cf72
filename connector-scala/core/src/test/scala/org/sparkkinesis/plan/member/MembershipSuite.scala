package org.sparkkinesis.plan.member

import scala.collection.immutable.SortedMap

import org.sparkkinesis.config.value.OnStreamRemoved
import org.sparkkinesis.metadata._
import org.sparkkinesis.plan.offset.StreamPhase
import org.sparkkinesis.plan.offset.StreamPhase.{Active, Draining, Parked}
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
    val past = history(entry(1, Nil, a -> StreamWish.Read, b -> StreamWish.Drain(7)))
    assert(past.next(document(2, physical(a)), Set.empty, Nil, 1007).exists(_.wishes.contains(b)))
    assert(past.next(document(2, physical(a)), Set.empty, Nil, 1008).exists(!_.wishes.contains(b)))
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
      one.copy(former = document(6, physical(b).copy(role = Some("arn:aws:iam::123456789012:role/reader"))))
    ).foreach { entry =>
      val text = EntryCodec.encode(entry)
      assert(EntryCodec.decode(text) == Right(entry))
      (0 until text.length).foreach(end => assert(EntryCodec.decode(text.take(end)).isLeft, text.take(end)))
    }
    assert(!EntryCodec.encode(one).contains("former"))
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
    assert(large.forall(EntryCodec.encode(_).length > DocumentParser.MaxBytes))
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
