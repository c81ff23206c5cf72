package org.sparkkinesis.model

import org.sparkkinesis.suite.TimedSuite

class ResourceStatusSuite extends TimedSuite {
  test("the statuses of the API are known by name") {
    assert(Seq("CREATING", "ACTIVE", "UPDATING", "DELETING").map(StreamStatus.of) ==
      Seq(StreamStatus.Creating, StreamStatus.Active, StreamStatus.Updating, StreamStatus.Deleting))
    assert(Seq("CREATING", "ACTIVE", "DELETING").map(ConsumerStatus.of) ==
      Seq(ConsumerStatus.Creating, ConsumerStatus.Active, ConsumerStatus.Deleting))
  }

  test("an unknown status keeps its name, and is neither usable nor active") {
    assert(StreamStatus.of("ARCHIVED").name == "ARCHIVED")
    assert(!StreamStatus.of("ARCHIVED").isUsable)
    assert(ConsumerStatus.of("ARCHIVED").name == "ARCHIVED")
    assert(ConsumerStatus.of("ARCHIVED") != ConsumerStatus.Active)
  }

  test("a stream can be read and written while it is active or updating") {
    val usable = Seq(StreamStatus.Creating, StreamStatus.Active, StreamStatus.Updating, StreamStatus.Deleting)
      .filter(_.isUsable)
    assert(usable == Seq(StreamStatus.Active, StreamStatus.Updating))
  }
}
