package org.sparkkinesis.plan.member

import scala.collection.immutable.SortedMap

import org.sparkkinesis.model.{SequenceNumber, ShardId}
import org.sparkkinesis.plan.offset.{OffsetCodec, ShardPosition, SourceOffset, StreamOffset, StreamPhase}
import org.sparkkinesis.suite.TimedSuite

class ListedStreamsSuite extends TimedSuite {

  private def at(arn: String, position: ShardPosition, phase: StreamPhase = StreamPhase.Active): StreamOffset =
    StreamOffset(arn, arn, 1, SortedMap(ShardId.ofIndex(0) -> position), phase = phase)

  private def read(arn: String): StreamOffset = at(arn, ShardPosition.After(SequenceNumber("7"), 100))
  private def joining(arn: String): StreamOffset = at(arn, ShardPosition.Horizon)
  private def offset(streams: StreamOffset*): SourceOffset = SourceOffset(streams)

  test("added streams are read from where they join, removed ones leave, and the others go on") {
    val table = Seq[(Seq[String], Set[String], SourceOffset)](
      (Seq("a"), Set("a"), offset(read("a"))),
      (Seq("a"), Set("a", "b"), offset(read("a"), joining("b"))),
      (Seq("a", "b"), Set("b"), offset(read("b"))),
      (Seq("a", "b"), Set("b", "c"), offset(read("b"), joining("c")))
    )
    table.foreach { case (before, listed, expected) =>
      val start = offset(before.map(read): _*)
      val joins = ListedStreams.joins(start, listed, SortedMap.empty[String, StreamOffset], joining)
      val now = ListedStreams.take(start, listed, joins)
      assert(now == expected, s"$before to $listed")
      assert(OffsetCodec.encode(now).startsWith("""{"v":1,"""), "nothing of version 2 is needed")
    }
  }

  test("an offset of the listed streams is returned as it is") {
    val start = offset(read("a"), read("b"))
    assert(ListedStreams.take(start, Set("a", "b"), SortedMap.empty[String, StreamOffset]) eq start)
  }

  test("a stream keeps the position from which it joined until an offset has it") {
    val known = SortedMap("b" -> joining("b"))
    def joins(start: SourceOffset, listed: String*) =
      ListedStreams.joins(start, listed.toSet, known, arn => read(arn))
    assert(joins(offset(read("a")), "a", "b") == known)
    assert(joins(offset(read("a")), "a", "b", "c") == known + ("c" -> read("c")))
    assert(joins(offset(read("a"), read("b")), "a", "b").isEmpty, "the offset has it")
    assert(joins(offset(read("a")), "a").isEmpty, "it is not listed any more")
  }

  test("a checkpoint of a logical stream is read on, also from the positions of parked streams") {
    val parked = at("b", ShardPosition.Horizon, StreamPhase.Parked(5, isDrained = true))
    val start = offset(read("a"), parked).copy(version = 3)
    val now = ListedStreams.take(start, Set("a", "b"), SortedMap.empty[String, StreamOffset])
    assert(now == offset(read("a"), joining("b")))
  }
}
