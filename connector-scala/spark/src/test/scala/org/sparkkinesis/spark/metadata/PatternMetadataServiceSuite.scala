package org.sparkkinesis.spark.metadata

import scala.collection.mutable

import org.sparkkinesis.metadata.{MetadataAnswer, MetadataDocument, StreamIds, Tag}
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.suite.TimedSuite

class PatternMetadataServiceSuite extends TimedSuite {
  private def ref(name: String): StreamRef.ByArn =
    StreamRef.ByArn(s"arn:aws:kinesis:us-east-1:123456789012:stream/$name", "us-east-1", "123456789012", name)

  private def document(last: Option[MetadataDocument], names: String*): MetadataDocument =
    PatternMetadataService.document("streamPattern", last, names.map(ref))

  test("the version of the document increases with each change of the streams, and only then") {
    val first = document(None, "b", "a")
    assert(first.version == 1 && first.physical.keySet == Set(ref("a").value, ref("b").value))
    assert(document(Some(first), "a", "b") == first)
    val second = document(Some(first), "a", "b", "c")
    assert(second.version == 2 && second.physical.size == 3)
    assert(document(Some(second), "a").version == 3)
  }

  test("a list without a change is answered as unchanged, and the version goes on from an earlier run") {
    val lists = mutable.Queue(Seq("a"), Seq("a"), Seq("a", "b"))
    val known = document(Some(document(None, "x")), "a")
    val service =
      new PatternMetadataService("streamPattern", Some(known), () => lists.dequeue().map(ref))
    val ids = StreamIds.Matching("a|b".r.pattern)
    assert(service.fetch(ids, None) == MetadataAnswer.Found(known, Some(Tag("2"))))
    assert(service.fetch(ids, Some(Tag("2"))) == MetadataAnswer.Unchanged)
    service.fetch(ids, Some(Tag("2"))) match {
      case MetadataAnswer.Found(found, tag) => assert(found.version == 3 && tag.contains(Tag("3")))
      case MetadataAnswer.Unchanged => fail("a stream was added")
    }
  }
}
