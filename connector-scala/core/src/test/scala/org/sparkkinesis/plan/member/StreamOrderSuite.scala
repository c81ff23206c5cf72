package org.sparkkinesis.plan.member

import scala.collection.immutable.SortedMap

import org.sparkkinesis.config.value.OnStreamRemoved
import org.sparkkinesis.metadata.{MetadataDocument, PhysicalStream, StreamState}
import org.sparkkinesis.plan.offset.StreamPhase.{Draining, Parked}
import org.sparkkinesis.plan.offset.{SourceOffset, StreamOffset}
import org.sparkkinesis.suite.TimedSuite

class StreamOrderSuite extends TimedSuite with MemberSamples {
  private def entry(document: MetadataDocument): MetadataEntry = MetadataEntry(
    document.version,
    0,
    document,
    SortedMap.empty[String, StreamWish],
    SortedMap.empty[String, StreamOffset]
  )

  private def waiting(offset: SourceOffset, documents: MetadataDocument*): Set[String] =
    Membership.waiting(offset, documents.map(entry))

  private val parked = Parked(1, isDrained = true)

  test("a stream waits for its predecessors until they are parked") {
    val ordered = document(1, physical(a), physical(b, after = Set(a)), physical(c, after = Set(b)))
    def among(streams: StreamOffset*) = waiting(offset(1, streams: _*), ordered)
    assert(among(join(a), join(b), join(c)) == Set(b, c))
    assert(among(join(a, Draining(1)), join(b), join(c)) == Set(b, c))
    assert(among(join(a, parked), join(b), join(c)) == Set(c))
    assert(among(join(b), join(c)) == Set(b, c), "a could not be opened yet")
    assert(waiting(offset(1, join(b)), document(2, physical(b, after = Set(a)))) == Set.empty)
  }

  test("a stream waits for its predecessors also while documents lack it") {
    val ordered = document(1, physical(a), physical(b, after = Set(a)))
    val from = offset(3, join(a, Draining(1)), join(b))
    Seq(document(2), document(2, physical(a)), document(2, physical(c))).foreach { later =>
      assert(waiting(from, ordered, later) == Set(b), s"$later")
    }
    assert(waiting(from, ordered, document(2, physical(a), physical(b))) == Set.empty)
  }

  test("where documents contradict each other, the newer order applies, and no stream waits for itself") {
    def after(arn: String, before: String*): PhysicalStream = physical(arn, after = before.toSet)
    val table = Seq[(Seq[Seq[PhysicalStream]], Seq[StreamOffset], Set[String])](
      (Seq(Seq(physical(a), after(b, a)), Seq(after(a, b))), Seq(join(a), join(b, Draining(1))), Set(a)),
      (Seq(Seq(after(a, b), physical(b)), Seq(after(b, a))), Seq(join(a, Draining(1)), join(b)), Set(b)),
      (Seq(Seq(physical(a), after(b, a)), Seq(after(a, b)), Nil), Seq(join(a), join(b)), Set(a)),
      (Seq(Seq(physical(a), after(b, a)), Seq(after(a, b))), Seq(join(a), join(b, parked)), Set.empty),
      // Each document adds a part of the circle; the oldest one does not apply.
      (
        Seq(Seq(after(c, b), physical(b)), Seq(after(b, a)), Seq(after(a, c))),
        Seq(join(a), join(b), join(c)),
        Set(a, b)
      ),
      (
        Seq(Seq(after(a, c)), Seq(after(c, b), physical(b)), Seq(after(b, a))),
        Seq(join(a), join(b), join(c)),
        Set(b, c)
      ),
      // One of two predecessors does not apply.
      (Seq(Seq(after(b, a, c), physical(c)), Seq(after(a, b))), Seq(join(a), join(b), join(c)), Set(a, b)),
      // A stream that is parked holds no other up, so that there is no contradiction.
      (
        Seq(Seq(physical(a), after(b, a)), Seq(after(a, c), after(c, b))),
        Seq(join(a), join(b), join(c, parked)),
        Set(b)
      ),
      // The stream that could not be opened yet waits for the other one as soon as it is.
      (Seq(Seq(after(a, b), physical(b)), Seq(after(b, a))), Seq(join(a)), Set.empty)
    )
    table.foreach { case (documents, streams, expected) =>
      val named = documents.zipWithIndex.map { case (listed, index) => document(index + 1L, listed: _*) }
      val found = waiting(offset(named.size.toLong, streams: _*), named: _*)
      assert(found == expected, named.map(_.physical.values.map(one => one -> one.after)).mkString(", "))
    }
  }

  test("a stream waits for its predecessors also when the log does not have the document any more that named it") {
    val left = document(2, physical(b, after = Set(a)))
    val last = entry(document(102, physical(a, StreamState.Draining))).copy(former = left)
    assert(Membership.waiting(offset(102, join(a, Draining(1)), join(b, Draining(1))), Seq(last)) == Set(b))
    assert(Membership.waiting(offset(102, join(a, parked), join(b, Draining(1))), Seq(last)) == Set.empty)
    val older = entry(document(101, physical(a), physical(b)))
    assert(Membership.waiting(offset(102, join(a), join(b)), Seq(older, last)) == Set.empty, "its document applies")
  }

  test("streams of documents without an order are not looked at") {
    val (plain, ordered) =
      (document(1, physical(a), physical(b)), document(1, physical(a), physical(b, after = Set(a))))
    assert(!plain.isOrdered && ordered.isOrdered)
    assert(waiting(offset(1, join(a), join(b)), plain) == Set.empty)
    val former = entry(document(2, physical(a))).copy(former = ordered)
    assert(Membership.waiting(offset(2, join(a), join(b)), Seq(former)) == Set(b))
  }

  test("the newer order applies also when the log has none of the documents any more") {
    Seq(a -> b, b -> a).foreach { case (first, second) =>
      val begun = entry(document(1, physical(first), physical(second, after = Set(first))))
        .copy(wishes = SortedMap(a -> StreamWish.Read, b -> StreamWish.Read))
      val history = new MembershipHistory(Seq(begun), OnStreamRemoved.Drain, 1, 1000)
      Seq(document(2, physical(first, after = Set(second))), document(3, physical(c)), document(4)).foreach { later =>
        history.note(history.next(later, Set(a, b), Nil, 7).get)
      }
      val last = EntryCodec.decode(EntryCodec.encode(history.newest.get)).toOption.toSeq
      assert(Membership.waiting(offset(4, join(a, Draining(7)), join(b, Draining(7))), last) == Set(first))
    }
  }
}
