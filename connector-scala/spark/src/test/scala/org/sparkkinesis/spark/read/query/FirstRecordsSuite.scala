package org.sparkkinesis.spark.read.query

import scala.concurrent.duration._

import org.sparkkinesis.consume.RangeEnd
import org.sparkkinesis.event.FirstRecordsUnknown
import org.sparkkinesis.model.{ShardId, StartingPosition, StreamShard}
import org.sparkkinesis.plan.ShardRange
import org.sparkkinesis.spark.connection.FakeDirectory.arn
import org.sparkkinesis.spark.session.SessionFixture

class FirstRecordsSuite extends SessionFixture {
  test("a batch read names the shards whose first records it could not read in time, and is planned") {
    val rig = new SessionRig(Seq("orders"), failOnDataLoss = true, Map.empty)
    val now = rig.time.currentMillis
    def range(index: Int, age: FiniteDuration) = ShardRange(
      StreamShard(arn("orders"), ShardId.ofIndex(index.toLong)),
      "orders",
      StartingPosition.AtTimestamp(now - age.toMillis),
      RangeEnd.ArrivedBy(now),
      None
    )
    rig.service.isSilent = true
    val ranges = Seq(range(0, 20.hours), range(1, 1.hour))
    assert(new FirstRecords(rig.session, rig.environment).of(ranges, now) == ranges)
    assert(rig.environment.recorded.of[FirstRecordsUnknown] ==
      Vector(FirstRecordsUnknown(arn("orders"), Seq(ShardId.ofIndex(0)))))
    assert(rig.time.currentMillis - now <= FirstRecords.LongestLook.toMillis + 1000)
  }
}
