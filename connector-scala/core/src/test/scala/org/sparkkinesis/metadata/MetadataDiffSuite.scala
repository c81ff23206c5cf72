package org.sparkkinesis.metadata

import scala.collection.immutable.SortedMap

import org.sparkkinesis.metadata.DocumentParserSuite.{A, B, C, ref}
import org.sparkkinesis.suite.TimedSuite

class MetadataDiffSuite extends TimedSuite {
  private def document(streams: PhysicalStream*): MetadataDocument =
    MetadataDocument(1, SortedMap("orders" -> streams.toVector))

  test("the difference of two documents has the added, removed and changed streams") {
    val (a, b, c) = (PhysicalStream(ref(A)), PhysicalStream(ref(B)), PhysicalStream(ref(C)))
    val draining = a.copy(state = StreamState.Draining)
    val role = a.copy(role = Some("arn:aws:iam::123456789012:role/reader"))
    val table = Seq(
      (document(), document(), MetadataDiff(Nil, Nil, Nil)),
      (document(a), document(a), MetadataDiff(Nil, Nil, Nil)),
      (document(a), document(a, b), MetadataDiff(Seq(b), Nil, Nil)),
      (document(a, b), document(b), MetadataDiff(Nil, Seq(a), Nil)),
      (document(a), document(draining), MetadataDiff(Nil, Nil, Seq(StreamChange(a, draining)))),
      (document(a, c), document(role, b), MetadataDiff(Seq(b), Seq(c), Seq(StreamChange(a, role))))
    )
    table.foreach { case (before, after, expected) => assert(MetadataDiff.between(before, after) == expected) }
    assert(table.map { case (before, after, _) => MetadataDiff.between(before, after).isEmpty } ==
      Seq(true, true, false, false, false, false))
  }

  test("a stream that moves to another logical stream is neither added nor removed") {
    val one = MetadataDocument(1, SortedMap("orders" -> Vector(PhysicalStream(ref(A)))))
    val other = MetadataDocument(2, SortedMap("sales" -> Vector(PhysicalStream(ref(A)))))
    assert(MetadataDiff.between(one, other).isEmpty)
  }

  test("the text of a difference names streams and states, and no other property") {
    val a = PhysicalStream(ref(A), role = Some("arn:aws:iam::123456789012:role/reader"), externalId = Some("secret"))
    val text = MetadataDiff.between(document(a), document(a.copy(state = StreamState.Draining), PhysicalStream(ref(B))))
    assert(text.toString == s"added $B (active); changed $A (active to draining)")
    assert(MetadataDiff.between(document(a), document()).toString == s"removed $A")
  }
}
