package org.sparkkinesis.spark.coordinator.state

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.model.{SequenceNumber, ShardId, StreamShard}
import org.sparkkinesis.spark.protocol.ShardReport
import org.sparkkinesis.suite.TimedSuite

class OvertakenSuite extends TimedSuite {

  test("the latest time is that of the newest record if the estimate is earlier") {
    var estimate = 5000L
    val latest = new LatestTime(() => estimate)
    def told(arrivals: Long*) = {
      val chunks = arrivals.map(millis => ChunkSummary(SequenceNumber("9"), 1, 1, millis, millis, millis, 0))
      latest.at(ShardReport(StreamShard("arn", ShardId.ofIndex(0)), 1, chunks.toVector, 1, 0, 0, None, None))
    }
    assert(told() == 5000)
    assert(told(4000) == 5000)
    assert(told(8000, 9000) == 9000, "the process was suspended")
    assert(told() == 9000, "a later report without records")
    estimate = 9500
    assert(told(7000) == 9500)
  }
}
