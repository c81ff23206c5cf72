package org.sparkkinesis.spark.read.realtime

import org.scalatest.funsuite.AnyFunSuite

import org.sparkkinesis.model.{ShardId, StreamShard}
import org.sparkkinesis.plan.offset.ShardPosition
import org.sparkkinesis.plan.realtime.LiveShard
import org.sparkkinesis.spark.coordinator.cluster.ExecutorPlace

class RealTimePlacesSuite extends AnyFunSuite {
  private val all = Seq("1", "2", "3").map(ExecutorPlace(_, "host"))
  private def live(stream: String, index: Int) =
    LiveShard(StreamShard(stream, ShardId.ofIndex(index.toLong)), stream, ShardPosition.Horizon, None)
  private val shards = Seq(live("a", 0), live("a", 1), live("b", 0))

  private def places(readers: Map[LiveShard, String], avoided: (String, Set[String])*): Seq[String] =
    RealTimePlaces.of(
      shards,
      shard => readers.get(shard).flatMap(id => all.find(_.id == id)),
      all,
      avoided.toMap.withDefaultValue(Set.empty[String])
    ).map(_.id)

  test("a task is placed where most of its shards were read and all of its streams can be reached") {
    val readers = Map(shards(0) -> "1", shards(1) -> "1", shards(2) -> "2")
    Seq[(Map[LiveShard, String], Seq[(String, Set[String])], Seq[String])](
      (Map.empty, Nil, Nil),
      (readers, Nil, Seq("1")),
      (readers, Seq("a" -> Set("1")), Seq("2")),
      (readers, Seq("b" -> Set("1")), Seq("2")),
      (readers, Seq("a" -> Set("1"), "b" -> Set("2")), Seq("3")),
      (readers, Seq("a" -> Set("3")), Seq("1")),
      (Map(shards(0) -> "1"), Seq("a" -> Set("1")), Seq("2", "3")),
      (Map.empty, Seq("a" -> Set("1")), Nil),
      (readers, Seq("c" -> Set("1")), Seq("1"))
    ).foreach { case (last, avoided, expected) => assert(places(last, avoided: _*) == expected, (last, avoided)) }
  }
}
