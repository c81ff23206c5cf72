package org.sparkkinesis.plan.realtime

import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{ChildShard, ShardId, StreamShard}
import org.sparkkinesis.suite.TimedSuite

class WaitingChildrenSuite extends TimedSuite {
  private def shard(number: Long, stream: String = "a") = StreamShard(stream, ShardId.ofIndex(number))
  private def child(number: Long, parents: Long*) =
    ChildShard(ShardId.ofIndex(number), parents.map(ShardId.ofIndex), HashKeyRange.Whole)

  test("a child can be read when its last parent is finished, by whichever task") {
    val waiting = new WaitingChildren(Set.empty)
    assert(!waiting.finish(shard(0), Seq(child(2, 0, 1))))
    assert(!waiting.finish(shard(0), Seq(child(2, 0, 1))))
    assert(!waiting.finish(shard(1, "other"), Nil))
    assert(waiting.finish(shard(1), Seq(child(2, 0, 1))))
  }

  test("a parent may have been finished before the batch") {
    assert(new WaitingChildren(Set(shard(1))).finish(shard(0), Seq(child(2, 0, 1))))
  }

  test("a shard without waiting children ends no batch") {
    assert(!new WaitingChildren(Set.empty).finish(shard(0), Nil))
  }
}
